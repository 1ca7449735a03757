package script

import (
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// A latch is a key in which a client library keeps the reply of a script for a call that is sent
// again: it is about one call, so it is on no master, and remembered here only.

// latchPrefix begins the names of Redisson's.
const latchPrefix = "redisson_unlock_latch:"

// IsLatch reports whether a key is on no master, but remembered by the Library.
func IsLatch(key string) bool { return strings.HasPrefix(key, latchPrefix) }

// maxLatches bounds those of a Library. A call whose latch was dropped is carried out again.
const maxLatches = 10_000

// maxLatch bounds the bytes of name and value together.
const maxLatch = 1 << 10

// Latch is what a run leaves in one. It is gone after TTL; 0 deletes it.
type Latch struct {
	Name, Value string
	TTL         time.Duration
}

// latch is one that is remembered, until a time of the Library's clock.
type latch struct {
	value string
	until int64
}

// Keep remembers what a run that was carried out has left in latches.
func (l *Library) Keep(db int, list []Latch) {
	if l.clock == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range list {
		l.latches.put(latchKey(db, s.Name), latch{s.Value, l.clock() + s.TTL.Milliseconds()})
	}
}

// Forget deletes a latch, and reports whether there was one.
func (l *Library) Forget(db int, name string) bool {
	_, there := l.latch(db, name)
	if there {
		l.Keep(db, []Latch{{Name: name}})
	}
	return there
}

// latch returns what is remembered of a latch.
func (l *Library) latch(db int, name string) (Latch, bool) {
	if l.clock == nil {
		return Latch{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.latches.get([]byte(latchKey(db, name)))
	left := s.until - l.clock()
	return Latch{name, s.value, millis(left)}, ok && left > 0
}

func latchKey(db int, name string) string { return string(rune(db)) + name }

// latchesOf returns what a run has left in latches.
func latchesOf(s *space) (list []Latch, err error) {
	for _, k := range s.keys {
		if !k.latch || !k.wrote() {
			continue
		}
		l := Latch{Name: k.name.(string)}
		if k.now.exists {
			text, isText := k.now.value.(string)
			if !isText || k.now.expiry.kind == never || len(l.Name)+len(text) > maxLatch {
				return nil, &RefusedError{Did: lua.OneLine("keeps more than a short string for a while in " + l.Name)}
			}
			l.Value, l.TTL = text, k.ttl()
		}
		list = append(list, l)
	}
	return list, nil
}
