package integration

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	scripts    = flag.Int("scripts", 0, "number of random scripts that are compared with Redis; 0 is 1000, or 250 with -short")
	scriptSeed = flag.Uint64("script-seed", 0, "seed of the random scripts, 0: a new one")
	scriptOnly = flag.Int("script-only", -1, "only the random script of this number")
)

const (
	scriptSessions = 8
	// maxExamples is how many scripts that differ are shown; all are counted.
	maxExamples = 20
)

// scriptCount is how many random scripts are tried.
func scriptCount() int {
	switch {
	case *scripts > 0:
		return *scripts
	case testing.Short():
		return 250
	default:
		return 1000
	}
}

// seedOfScripts returns the seed of a test's random scripts, and logs it.
func seedOfScripts(t *testing.T) uint64 {
	t.Helper()
	seed := cmp.Or(*scriptSeed, rand.Uint64())
	t.Logf("-script-seed %d", seed)
	return seed
}

// TestC7ScriptsAsOnRedis runs random scripts on one Redis and through
// redlockd over five masters, in the same states and with the same arguments.
// Reply and effect, on a majority, are the same, or redlockd refuses the
// script and changes nothing. A script is called with vectors of arguments
// that differ in little, so a memory of meanings that takes calls for the same
// that are not is seen.
func TestC7ScriptsAsOnRedis(t *testing.T) {
	count := scriptCount()
	one := StartRedis(t)
	masters := StartMasters(t, 5)
	cfg := overFive(masters)
	cfg.NoExpiry, cfg.MaxTTL = "max_ttl", longestTTL*time.Millisecond
	r := StartRedlockd(t, cfg, masters)

	d := &differential{seed: seedOfScripts(t), seen: map[string]int{}}
	var sessions sync.WaitGroup
	started := time.Now()
	for n := range scriptSessions {
		s := &scriptSession{differential: d, one: DialWire(t, one.Addr), lockd: DialWire(t, r.Addr)}
		if n%2 == 1 {
			s.one.Ask("HELLO", "3")
			s.lockd.Ask("HELLO", "3")
		}
		for _, m := range masters {
			s.masters = append(s.masters, DialWire(t, m.Addr))
		}
		sessions.Go(func() {
			for i := n; i < count; i += scriptSessions {
				if *scriptOnly >= 0 && i != *scriptOnly {
					continue
				}
				if err := s.compare(i); err != nil {
					t.Errorf("script %d: %v", i, err)
					return
				}
			}
		})
	}
	sessions.Wait()

	t.Logf("%d scripts in %v: %d calls compared, %d refused, %d asked again because of NOQUORUM, %d shortened too late once",
		count, time.Since(started).Round(time.Millisecond), d.compared, d.refused, d.repeated, d.late)
	for _, what := range slices.Sorted(maps.Keys(d.seen)) {
		t.Logf("%6d %s", d.seen[what], what)
	}
	for i, text := range d.examples {
		if i < maxExamples {
			t.Error(text)
		}
	}
	for _, text := range d.once {
		t.Logf("not seen again: %s", text)
	}
	if len(d.once) > 1+count/1000 {
		t.Errorf("%d differences that did not come again", len(d.once))
	}
	if d.different > 0 {
		t.Errorf("%d differences in %d scripts", d.different, len(d.examples))
	}
	if *scriptOnly < 0 && d.refused > d.compared/5 {
		t.Errorf("%d calls refused and only %d compared: what is refused is not tested", d.refused, d.compared)
	}
	for _, effect := range []string{"nothing", "sets", "deletes", "prolongs"} {
		if *scriptOnly < 0 && d.seen[effect] < count/10 {
			t.Errorf("only %d calls whose effect is: %s; the grammar is too narrow", d.seen[effect], effect)
		}
	}
}

// differential is what all sessions have found.
type differential struct {
	seed                        uint64
	mu                          sync.Mutex
	compared, refused, repeated int
	different, late             int // calls; late did not come again
	seen                        map[string]int
	examples                    []string // one for each script that differs
	once                        []string // what did not come again
}

// scriptSession is one client of each server, and one that looks at the
// masters.
type scriptSession struct {
	*differential
	one, lockd *Wire
	masters    []*Wire
}

// scriptCall is one call of a script and the state it meets. The last of keys
// is not one of KEYS, and absent before.
type scriptCall struct {
	keys, args []string
	before     []keyState
	bySHA      bool
	// differed is how often redlockd was not as Redis, and text how. Where a
	// millisecond decides (PEXPIRE GT on a TTL that is the same) it is once;
	// what is wrong comes again. late is whether a shortening came too late.
	differed int
	text     string
	late     bool
}

// compare makes the script of this number and its calls, and plays them. All
// calls go out in one write: each has its own keys.
func (s *scriptSession) compare(number int) error {
	rng := rand.New(rand.NewPCG(s.seed, uint64(number)))
	g := lua{rng, 1 + rng.IntN(2)}
	body := g.script()
	calls := g.calls()
	example := ""
	for try := 0; len(calls) > 0; try++ {
		for i := range calls {
			calls[i].rename(fmt.Sprintf("s%d:%d:%d:", number, try, i))
		}
		again, found, err := s.play(body, calls)
		if err != nil {
			return err
		}
		s.note(func() { s.repeated += len(again) })
		calls = again
		for _, c := range found {
			if c.differed < 3 {
				calls = append(calls, c)
				continue
			}
			if example == "" {
				example = fmt.Sprintf("script %d\n%s\n%s", number, body, c.text)
			}
			s.note(func() { s.different++ })
		}
		if try == 20 && len(calls) > 0 {
			return fmt.Errorf("NOQUORUM 20 times")
		}
	}
	if example != "" {
		s.note(func() { s.examples = append(s.examples, example) })
	}
	return nil
}

func (d *differential) note(what func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	what()
}

// These stand for names of keys in arguments and states: the first of KEYS,
// and one that is not named there.
const (
	firstKey = "@first"
	otherKey = "@other"
)

// calls are the calls of one script: each vector of arguments in several
// states. Neighbours differ in a flag only, or in which arguments are equal.
func (g lua) calls() []scriptCall {
	soon := strconv.FormatInt(time.Now().UnixMilli()+120_000, 10)
	token := g.pick("tok", "tok", "token-3f", "5", "")
	vector := func(a ...string) []string { return append(a, soon) }
	vectors := [][]string{
		vector(token, "160000", "1", "160", otherKey),
		vector(token, "160000", g.pick("0", "add", "", "XX"), "160", otherKey),
		vector(token, "160000", g.pick("NX", "GT", token, "2"), "220", otherKey),
		vector(g.pick("tok2", "160000", firstKey), g.pick("40000", "160000"), "1", "40", g.pick(otherKey, firstKey)),
	}
	switch g.IntN(4) {
	case 0:
		vectors = append(vectors, vector(otherKey, "40000", "1", "160", otherKey))
	case 1:
		vectors = append(vectors, []string{token, "40000"})
	case 2:
		vectors = append(vectors, []string{token})
	}
	var list []scriptCall
	for _, args := range vectors {
		for state := range 3 {
			c := scriptCall{args: args, before: make([]keyState, g.keys+1), bySHA: g.IntN(3) > 0}
			for k := range g.keys {
				which := state
				if k > 0 {
					which = g.IntN(3)
				}
				c.before[k] = g.state(which, args)
			}
			list = append(list, c)
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list[0].bySHA = false
	return list
}

// state is no lock, the caller's, or another one's.
func (g lua) state(which int, args []string) keyState {
	s := keyState{found: which > 0, value: args[0], left: int64(100_000 + 150_000*g.IntN(2))}
	if which == 2 {
		s.value = g.pick(otherKey, "tok", "tokx", "somebody", args[0]+":1", args[0]+"x", `["`+args[0]+`"]`, `{"o":"`+args[0]+`"}`, "7", "1", "160000", "", firstKey)
	}
	return s
}

// rename gives the call its keys; the arguments and states that are a key
// follow.
func (c *scriptCall) rename(prefix string) {
	old := c.keys
	c.keys = make([]string, len(c.before))
	for i := range c.keys {
		c.keys[i] = prefix + string(rune('a'+i))
	}
	last := len(c.keys) - 1
	follow := func(s string) string {
		switch {
		case s == firstKey || (old != nil && s == old[0]):
			return c.keys[0]
		case s == otherKey || (old != nil && s == old[last]):
			return c.keys[last]
		}
		return s
	}
	c.args, c.before = slices.Clone(c.args), slices.Clone(c.before)
	for i := range c.args {
		c.args[i] = follow(c.args[i])
	}
	for i := range c.before {
		c.before[i].value = follow(c.before[i].value)
	}
}

// commands set up the state and call the script.
func (c *scriptCall) commands(body string) [][]string {
	var list [][]string
	for i, s := range c.before {
		if s.found {
			list = append(list, []string{"SET", c.keys[i], s.value, "PX", strconv.FormatInt(s.left, 10)})
		}
	}
	call := []string{"EVAL", body}
	if c.bySHA {
		sum := sha1.Sum([]byte(body))
		call = []string{"EVALSHA", hex.EncodeToString(sum[:])}
	}
	keys := c.keys[:len(c.keys)-1]
	call = append(append(call, strconv.Itoa(len(keys))), keys...)
	return append(list, append(call, c.args...))
}

// play plays the calls to both servers. It returns those that must be asked
// again, since a quorum was not in time on a busy machine, and what differs.
func (s *scriptSession) play(body string, calls []scriptCall) (again, found []scriptCall, err error) {
	var commands [][]string
	var keys []string
	for i := range calls {
		commands = append(commands, calls[i].commands(body)...)
		keys = append(keys, calls[i].keys...)
	}
	want, err := s.one.batch(commands)
	if err != nil {
		return nil, nil, fmt.Errorf("redis: %w", err)
	}
	wanted, err := s.one.look(keys)
	if err != nil {
		return nil, nil, fmt.Errorf("redis: %w", err)
	}
	got, err := s.lockd.batch(commands)
	if err != nil {
		return nil, nil, fmt.Errorf("redlockd: %w", err)
	}
	copies, err := s.copies(keys)
	if err != nil {
		return nil, nil, err
	}
	at, key := 0, 0
	for i := range calls {
		c := &calls[i]
		from := at
		at += len(c.commands(body))
		if slices.ContainsFunc(got[from:at], func(r string) bool { return strings.HasPrefix(r, "-NOQUORUM") }) {
			again = append(again, *c)
			key += len(c.keys)
			continue
		}
		o := callOutcome{call: c, want: want[at-1], got: got[at-1], wanted: wanted[key : key+len(c.keys)]}
		for n := range s.masters {
			o.copies = append(o.copies, copies[n][key:key+len(c.keys)])
		}
		for _, r := range got[from : at-1] {
			if r != "+OK\r\n" {
				o.got = "SET: " + r
			}
		}
		key += len(c.keys)
		text, err := s.judge(&o)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case text != "":
			c.differed, c.text, c.late = c.differed+1, text, o.keptLonger()
			found = append(found, *c)
		case c.differed > 0 && c.late:
			s.note(func() { s.late++ })
		case c.differed > 0:
			s.note(func() { s.once = append(s.once, c.text) })
		}
	}
	return again, found, nil
}

// copies is what each master has under the keys.
func (s *scriptSession) copies(keys []string) ([][]keyState, error) {
	all := make([][]keyState, len(s.masters))
	for n, m := range s.masters {
		states, err := m.look(keys)
		if err != nil {
			return nil, fmt.Errorf("master %d: %w", n+1, err)
		}
		all[n] = states
	}
	return all, nil
}

// callOutcome is what became of one call.
type callOutcome struct {
	call      *scriptCall
	want, got string
	wanted    []keyState   // on Redis
	copies    [][]keyState // on each master
}

// scriptRefused reports whether redlockd says that it does not carry out this call:
// it is no lock script, or asks for a TTL above max_ttl (V13).
func scriptRefused(reply string) bool {
	return strings.HasPrefix(reply, "-ERR This script is not a lock script: ") ||
		strings.HasPrefix(reply, "-ERR invalid expire time in 'eval' command: above max_ttl")
}

// refusal is the beginning of what a refusal says, without names.
func refusal(reply string) string {
	_, did, _ := strings.Cut(strings.TrimSpace(reply), ": ")
	did, _, _ = strings.Cut(did, "\"")
	words := strings.Fields(did)
	return "refused: " + strings.Join(words[:min(len(words), 5)], " ")
}

// judge says what is different, or "". A copy may still be on its way when
// redlockd has answered, so it is looked at again before it counts as wrong.
func (s *scriptSession) judge(o *callOutcome) (string, error) {
	refused := scriptRefused(o.got)
	expected := o.call.before
	if !refused {
		expected = o.wanted
	}
	for wait := time.Millisecond; !o.onMajority(expected) && wait < 2*time.Second; wait *= 2 {
		time.Sleep(wait)
		var err error
		if o.copies, err = s.copies(o.call.keys); err != nil {
			return "", err
		}
	}
	s.note(func() {
		if refused {
			s.refused++
			s.seen[refusal(o.got)]++
			return
		}
		s.compared++
		s.seen[effectName(o.call.before[0], o.wanted[0])]++
		s.seen["reply "+o.want[:1]]++
	})
	switch {
	case !refused && !o.sameReply():
		return o.tell("another reply"), nil
	case !o.onMajority(expected) && refused:
		return o.tell("refused, and yet it changed something"), nil
	case !o.onMajority(expected):
		return o.tell("another effect"), nil
	}
	return "", nil
}

func (o *callOutcome) sameReply() bool {
	return sameReply(o.want, o.got)
}

// keptLonger reports whether nothing is different but that copies kept the later expiry
// that they had before. On a busy machine a shortening comes after its deadline, and
// the reply does not wait for it any longer (V6, docs/safety.md).
func (o *callOutcome) keptLonger() bool {
	for k, want := range o.wanted {
		for _, copies := range o.copies {
			has, before := copies[k], o.call.before[k].left
			longer := want.found && has.found && has.value == want.value && want.left < has.left && has.left < before+slack
			if !longer && !want.kept().like(has) {
				return false
			}
		}
	}
	return o.sameReply()
}

func (o *callOutcome) onMajority(expected []keyState) bool {
	for k, want := range expected {
		same := 0
		for _, has := range o.copies {
			if want.kept().like(has[k]) {
				same++
			}
		}
		if same <= len(o.copies)/2 {
			return false
		}
	}
	return true
}

func (o *callOutcome) tell(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, by SHA1: %v\nKEYS %q ARGV %q\nbefore: %v\nredis:    %q\nredlockd: %q\nafter: redis %v", what,
		o.call.bySHA, o.call.keys, o.call.args, o.call.before, o.want, o.got, o.wanted)
	for _, c := range o.copies {
		fmt.Fprintf(&b, "; %v", c)
	}
	return b.String()
}

// effectName is what happened to the first key.
func effectName(before, after keyState) string {
	switch {
	case before.found && !after.found:
		return "deletes"
	case before.found != after.found || before.value != after.value:
		return "sets"
	case farApart(before.left, after.left) && after.found:
		return "prolongs"
	}
	return "nothing"
}
