package main

import (
	"cmp"
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// scripts are the Lua texts that passed by, with calls of each.
type scripts struct {
	mu   sync.Mutex
	text map[string]string          // by sha1
	call map[string]scriptCall      // by sha1 and form
	who  map[string]map[string]bool // by sha1 and form: names of programs
}

// heard is what all programs sent.
type heard struct{ libraries, standIns *scripts }

// scriptCall is one call of a form: so many keys, and flags.
type scriptCall struct {
	sha        string
	keys, args []string
}

// form tells calls of one text apart that may mean different things: by the
// number of keys, and by arguments that are too short to be a token.
func (c scriptCall) form() string {
	form := fmt.Sprint(c.sha, " ", len(c.keys))
	for _, arg := range c.args {
		if len(arg) > 3 {
			arg = "*"
		}
		form += " " + arg
	}
	return form
}

func newScripts() *scripts {
	return &scripts{text: map[string]string{}, call: map[string]scriptCall{}, who: map[string]map[string]bool{}}
}

// add looks for scripts in what a program said to the plain Redis.
func (s *scripts) add(who string, all []said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range all {
		w := one.words
		if len(w) < 3 {
			continue
		}
		name := strings.ToUpper(w[0])
		if name == "SCRIPT" && strings.EqualFold(w[1], "LOAD") {
			s.text[sha(w[2])] = w[2]
			continue
		}
		c := scriptCall{sha: w[1]}
		switch name {
		case "EVAL":
			c.sha = sha(w[1])
			s.text[c.sha] = w[1]
		case "EVALSHA":
		default:
			continue
		}
		n, err := strconv.Atoi(w[2])
		if err != nil || n < 1 || n > len(w)-3 {
			continue
		}
		c.keys, c.args = w[3:3+n], w[3+n:]
		form := c.form()
		if _, seen := s.call[form]; !seen {
			s.call[form], s.who[form] = c, map[string]bool{}
		}
		s.who[form][who] = true
	}
}

func sha(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }

// users are the scripts of one meaning.
type users struct {
	meaning
	shas []string
	who  []string
}

// learn runs every script in every state on a Redis of its own, and returns
// the meanings, those with most libraries first. Scripts that use JSON are left
// out: no word of a call is the value that they look for.
func (s *scripts) learn(ctx context.Context, addr string) []users {
	found := map[meaning]map[string]bool{}
	shas := map[meaning]map[string]bool{}
	for _, form := range slices.Sorted(maps.Keys(s.call)) {
		call := s.call[form]
		if s.text[call.sha] == "" || ctx.Err() != nil {
			continue // sent by hash, and never loaded: a program asks for NOSCRIPT
		}
		if strings.Contains(s.text[call.sha], "cjson.") {
			continue
		}
		m, err := learn(addr, s.text[call.sha], call)
		if err != nil {
			continue
		}
		if found[m] == nil {
			found[m], shas[m] = map[string]bool{}, map[string]bool{}
		}
		maps.Copy(found[m], s.who[form])
		shas[m][call.sha] = true
	}
	var out []users
	for m, who := range found {
		out = append(out, users{m, slices.Sorted(maps.Keys(shas[m])), slices.Sorted(maps.Keys(who))})
	}
	slices.SortFunc(out, func(a, b users) int {
		return cmp.Or(cmp.Compare(min(a.keys, 2), min(b.keys, 2)), cmp.Compare(len(b.who), len(a.who)),
			strings.Compare(a.shas[0], b.shas[0]), strings.Compare(a.equal, b.equal))
	})
	return out
}
