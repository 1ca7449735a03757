package faults

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// account is all that is known about a key around a violation: the calls, the
// faults, and what the masters carried out.
type account struct {
	from, to time.Duration
	events   []event
}

// event is a line of an account.
type event struct {
	at   time.Duration
	text string
	// master and address are where it was carried out and for whom, if it is a
	// command.
	master, address string
}

// tell asks for an account of a key in a time.
func (h *history) tell(key string, from, to time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.accounts[key]; a != nil {
		a.from, a.to = min(a.from, from), max(a.to, to)
		return
	}
	h.accounts[key] = &account{from: from, to: to}
}

// giveAccounts fills in what was asked for.
func (b *bench) giveAccounts() {
	if len(b.h.accounts) == 0 {
		return
	}
	s := b.newSenders()
	for _, path := range b.executed.files {
		if err := s.read(path, b.h.accounts); err != nil {
			b.tb.Logf("reading %s: %v", path, err)
		}
	}
	for key, a := range b.h.accounts {
		a.say(s)
		for _, c := range b.h.keys[key] {
			if c.got >= a.from && c.sent <= a.to {
				a.events = append(a.events, event{at: c.sent, text: c.String()})
			}
		}
		for i, at := range b.h.faultTimes {
			if at > a.from-4*time.Second && at < a.to+time.Second {
				a.events = append(a.events, event{at: at, text: b.h.faults[i]})
			}
		}
		slices.SortStableFunc(a.events, func(x, y event) int { return cmp.Compare(x.at, y.at) })
	}
}

func (a *account) String() string {
	var out strings.Builder
	for _, e := range a.events {
		fmt.Fprintln(&out, e.text)
	}
	return out.String()
}

// say puts the time, the master and the sender before each command.
func (a *account) say(s *senders) {
	for i := range a.events {
		if e := &a.events[i]; e.address != "" {
			e.text = fmt.Sprintf("%13.6f master %s for %s: %s", e.at.Seconds(), e.master, s.name(connection{e.master, e.address}), e.text)
		}
	}
}

// senders tells whose connection to a master one is: of the redlockd that was
// asked for most of the locks that it takes.
type senders struct {
	asked map[token]int // the redlockd; -1 where there are several
	taken map[connection]map[int]int
}

type token struct{ key, text string }

type connection struct{ master, address string }

func (b *bench) newSenders() *senders {
	s := &senders{asked: map[token]int{}, taken: map[connection]map[int]int{}}
	for key, calls := range b.h.keys {
		for _, c := range calls {
			if c.kind != acquire || c.old || c.token == equalToken {
				continue
			}
			if r, is := s.asked[token{key, c.token}]; is && r != c.redlockd {
				s.asked[token{key, c.token}] = -1
				continue
			}
			s.asked[token{key, c.token}] = c.redlockd
		}
	}
	return s
}

func (s *senders) learn(c connection, t token) {
	if r, is := s.asked[t]; is && r >= 0 {
		if s.taken[c] == nil {
			s.taken[c] = map[int]int{}
		}
		s.taken[c][r]++
	}
}

func (s *senders) name(c connection) string {
	most, name := 0, c.address
	for r, n := range s.taken[c] {
		if n > most {
			most, name = n, fmt.Sprintf("redlockd %d (%s)", r, c.address)
		}
	}
	return name
}

// read finds what a master carried out on the keys of the accounts.
func (s *senders) read(path string, accounts map[string]*account) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	c := connection{master: strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "executed-"), ".gz")}
	lines := bufio.NewScanner(zip)
	for lines.Buffer(nil, 1<<26); lines.Scan(); {
		var at, read int64
		parts := strings.SplitN(lines.Text(), " ", 3)
		if _, err := fmt.Sscan(lines.Text(), &at, &read); err != nil || len(parts) < 3 {
			return fmt.Errorf("line %q: %v", lines.Text(), err)
		}
		l := executedLine{at: time.Duration(at) * time.Microsecond, read: time.Duration(read) * time.Microsecond, text: parts[2]}
		if l.text == missing {
			l.tellMissing(c.master, accounts)
			continue
		}
		who, command, _ := strings.Cut(l.text, "] ")
		l.text = command
		if _, address, _ := strings.Cut(who, " "); address != "lua" {
			c.address = address
			if m := acquires.FindStringSubmatch(command); m != nil {
				s.learn(c, token{m[1], m[2]})
			}
		} else {
			l.text = "  " + command
		}
		l.tell(c, accounts)
	}
	return lines.Err()
}

// acquires is an acquire that is no script.
var acquires = regexp.MustCompile(`^"SET" "([^"]*)" "([^"]*)" "NX"`)

var quotedKey = regexp.MustCompile(`"key-\d+-\d+"`)

// executedLine is what a recording has of one command. A line that is read
// later than this says so.
type executedLine struct {
	at, read time.Duration
	text     string
}

const readLater = 50 * time.Millisecond

func (l *executedLine) tell(c connection, accounts map[string]*account) {
	for _, key := range slices.Compact(quotedKey.FindAllString(l.text, -1)) {
		a := accounts[strings.Trim(key, `"`)]
		if a == nil || l.at < a.from || l.at > a.to {
			continue
		}
		e := event{at: l.at, text: brief(l.text, key), master: c.master, address: c.address}
		if l.read-l.at > readLater {
			e.text += fmt.Sprintf(" (read at %.3f)", l.read.Seconds())
		}
		a.events = append(a.events, e)
	}
}

func (l *executedLine) tellMissing(master string, accounts map[string]*account) {
	for _, a := range accounts {
		if l.at < a.to && l.read > a.from {
			a.events = append(a.events, event{at: l.at, text: fmt.Sprintf("%13.6f master %s: what it carried out until %.6f may be missing",
				l.at.Seconds(), master, l.read.Seconds())})
		}
	}
}

// brief leaves out of a command what hides the key: a script, and other keys.
func brief(command, key string) string {
	if len(command) <= 250 {
		return command
	}
	before, after, _ := strings.Cut(command, key)
	return before[:min(40, len(before))] + " ... " + key + after[:min(200, len(after))]
}
