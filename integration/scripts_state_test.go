package integration

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// keyState is what a key holds; no value is an empty name.
type keyState struct {
	found bool
	value string
	// left is the TTL in milliseconds, -1 for none.
	left int64
}

func (s keyState) String() string {
	if !s.found {
		return "absent"
	}
	return fmt.Sprintf("%q for %d ms", s.value, s.left)
}

// Two times are taken for the same when they differ by less than slack; times
// that a script may tell apart differ by more than twice that. So a busy
// machine makes no difference, and a wrong TTL does. Masters are given hold,
// which is a little more than the TTL (V3).
const (
	slack      = 12_000 // milliseconds
	longestTTL = 300_000
)

// farApart reports whether two numbers are two times that are not the same. Small
// numbers are no times.
func farApart(a, b int64) bool {
	switch small := min(a, b); {
	case a == b:
		return false
	case small < 20:
		return true
	case small < 1000: // seconds
		return max(a-b, b-a) > slack/1000
	}
	return max(a-b, b-a) > slack
}

// kept is what redlockd keeps where Redis keeps s: no lock is without a TTL
// or has one above max_ttl (C2, V13).
func (s keyState) kept() keyState {
	if s.found && (s.left < 0 || s.left > longestTTL) {
		s.left = longestTTL
	}
	return s
}

// like reports whether a master's copy is what redlockd was to keep.
func (s keyState) like(copied keyState) bool {
	if !s.found || !copied.found {
		return s.found == copied.found
	}
	return s.value == copied.value && !farApart(s.left, copied.left)
}

// sameReply compares two replies byte by byte, but for times.
func sameReply(want, got string) bool {
	if want == got {
		return true
	}
	a, b := atoms(want), atoms(got)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, xerr := strconv.ParseInt(strings.TrimLeft(a[i], ":$"), 10, 64)
		y, yerr := strconv.ParseInt(strings.TrimLeft(b[i], ":$"), 10, 64)
		times := a[i][0] == b[i][0] && xerr == nil && yerr == nil && !farApart(x, y)
		if a[i] != b[i] && !times {
			return false
		}
	}
	return true
}

// atoms are the parts of a reply: a type and what is of that type. A bulk
// string is without its length, which is another one where a time has another
// number of digits.
func atoms(frame string) []string {
	var list []string
	for frame != "" {
		line, rest, _ := strings.Cut(frame, "\r\n")
		frame = rest
		if n, err := strconv.Atoi(line[1:]); line[0] == '$' && err == nil && n >= 0 {
			line, frame = "$"+rest[:n], rest[n+2:]
		}
		list = append(list, line)
	}
	return list
}

// batch sends commands in one write and returns their replies.
func (w *Wire) batch(commands [][]string) ([]string, error) {
	var b bytes.Buffer
	for _, args := range commands {
		b.Write(command(args...))
	}
	w.conn.SetDeadline(time.Now().Add(patience))
	if _, err := w.conn.Write(b.Bytes()); err != nil {
		return nil, fmt.Errorf("sending %d commands: %w", len(commands), err)
	}
	replies := make([]string, len(commands))
	for i := range replies {
		frame, err := readFrame(w.r)
		if err != nil {
			return nil, fmt.Errorf("reading the reply to %q: %w", commands[i], err)
		}
		replies[i] = string(frame)
	}
	return replies, nil
}

// look reads keys directly from a server.
func (w *Wire) look(keys []string) ([]keyState, error) {
	var ask [][]string
	for _, key := range keys {
		ask = append(ask, []string{"GET", key}, []string{"PTTL", key})
	}
	replies, err := w.batch(ask)
	if err != nil {
		return nil, err
	}
	states := make([]keyState, len(keys))
	for i := range keys {
		value, left := replies[2*i], replies[2*i+1]
		if value[0] == '$' && value[1] != '-' {
			states[i] = keyState{found: true, value: rig.Token(strings.TrimPrefix(atoms(value)[0], "$"))}
			states[i].left, _ = number(left)
		}
	}
	return states, nil
}
