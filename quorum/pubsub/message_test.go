package pubsub

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// S7: messages arrive as they were sent, whatever bytes they have.
func TestS7MessagesSurvive(t *testing.T) {
	list := []Message{{Kind: 1, Channel: "c", Parts: []string{"", "\x00\xff\r\n"}}, {Kind: 200, Channel: ""}}
	var b []byte
	for i := range list {
		b = appendMessage(b, &list[i])
	}
	if got, ok := readMessages(string(b)); !ok || !reflect.DeepEqual(got, list) {
		t.Errorf("got %q, want %q", got, list)
	}
	for n := range len(b) {
		readMessages(string(b[:n])) // does not panic
	}
	for _, bad := range []string{"\x00\x01c\x00", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01\x01c\x01\x05x", "\x01\x01c\xff\xff\x03"} {
		if got, ok := readMessages(bad); ok {
			t.Errorf("%q is taken for %q", bad, got)
		}
	}
}

// S7: of several copies the first one counts, for 10 s at least; the memory of them is bounded.
func TestS7FirstCopy(t *testing.T) {
	var s seen
	a := id{1}
	for _, step := range []struct {
		at    time.Duration
		first bool
	}{{time.Second, true}, {2 * time.Second, false}, {10 * time.Second, false}, {10999 * time.Millisecond, false}, {35 * time.Second, true}} {
		if got := s.first(a, step.at); got != step.first {
			t.Errorf("at %v: first is %v, want %v", step.at, got, step.first)
		}
	}
	for i := range uint32(4 * maxIDs) {
		var of id
		binary.BigEndian.PutUint32(of[:], i+7)
		if !s.first(of, 36*time.Second) || s.first(of, 36*time.Second) {
			t.Fatal("a new id is not new once")
		}
		if n := len(s.ids) + len(s.before); n > 2*maxIDs {
			t.Fatalf("%d ids are kept", n)
		}
	}
	s.forget(time.Minute)
	if n := len(s.ids) + len(s.before); n > 0 {
		t.Errorf("%d ids are kept for ever", n)
	}
}

// S7: what the masters are asked for is bounded, and is left when nobody uses it any more.
func TestS7NamesAreBounded(t *testing.T) {
	table := nameTable{all: map[name]*entry{}, idle: map[name]*entry{}}
	asked := 0
	var all []name
	for i := range 2 * maxNames {
		n := name{text: fmt.Sprint(i), pattern: i%2 == 0}
		if _, fresh := table.use(n); fresh {
			asked++
		}
		all = append(all, n)
	}
	if asked != maxNames || table.patterns != maxPatterns {
		t.Errorf("%d names with %d patterns are asked for, want %d and %d", asked, table.patterns, maxNames, maxPatterns)
	}
	if _, fresh := table.use(all[0]); fresh {
		t.Error("a name is asked for twice")
	}
	table.leave(all[0], 0)
	for _, n := range all {
		table.leave(n, 0)
		table.leave(n, 0) // too often
	}
	if gone := table.sweep(linger - 1); len(gone) > 0 {
		t.Errorf("%d names are left too early", len(gone))
	}
	if gone := table.sweep(linger); len(gone) != asked || len(table.all)+len(table.idle)+table.asked+table.bytes+table.patterns != 0 {
		t.Errorf("%d names are left, and %d kept", len(gone), len(table.all))
	}
}
