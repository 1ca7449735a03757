package script

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile scripts want to end the process, or to keep it busy.
var hostile = []struct{ name, body string }{
	{"endless loop", `while true do end`},
	{"doubling", `local s = 'x' while true do s = s .. s end`},
	{"unpack in a loop", `local t = {} while true do t = {unpack(t), unpack(t)} t[#t + 1] = 1 end`},
	{"pattern", `return string.find(string.rep('a', 5000), string.rep('a*', 30) .. 'b')`},
	{"reply that holds itself", `local t = {} t[1] = t return t`},
	{"wide reply", `local t = {1, 1, 1, 1, 1, 1, 1, 1} for i = 1, 9 do t = {t, t, t, t, t, t, t, t} end return t`},
	{"key that changes", `for i = 1, 1e9 do redis.call('get', KEYS[1]) end`},
	{"long error", `error(string.rep('x', 1e6))`},
	{"error of a table", `error({})`},
	{"not a number", `return 0 / 0`},
	{"a library extended by insert", `table.insert(redis, 1)`},
	{"deep JSON", `return cjson.decode(string.rep('[', 1e6))`},
	{"JSON of a table that holds itself", `local t = {} t.t = t return cjson.encode(t)`},
	{"JSON that is wide", `local t = {1} for i = 1, 30 do t = {t, t} end return cjson.encode(t)`},
	{"JSON errors that are caught", `while true do pcall(cjson.decode, KEYS[1]) end`},
	{"too long", "return 1 --" + strings.Repeat("x", 32<<10)},
	{"nothing", ``},
	{"zero bytes", "return '\x00' == \x00"},
	{"odd numbers", `return tonumber('nan'), tonumber('0x1p3'), 1e999`},
}

// TestHostile claims that every script ends, soon, with an answer of one line
// or with a meaning, and takes little memory.
func TestHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			m, err := call{h.body, lock, timed}.understand(NewLibrary())
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			bounded(t, m, err)
			if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 && !raceEnabled { // the detector allocates itself
				t.Errorf("allocated %d MiB", used>>20)
			}
			limit := 2 * time.Second // for tens of milliseconds
			if raceEnabled {
				limit *= 10
			}
			if took > limit {
				t.Errorf("took %v", took)
			}
			t.Logf("%v, %d KiB: %v", took, (after.TotalAlloc-before.TotalAlloc)>>10, err)
		})
	}
}

// bounded checks what holds for every answer.
func bounded(t *testing.T, m *Meaning, err error) {
	t.Helper()
	if err != nil {
		if text := err.Error(); strings.ContainsAny(text, "\r\n") || len(text) > 1000 {
			t.Errorf("error is no short line: %.200q", text)
		}
		return
	}
	if m.Kind != PerCall {
		return
	}
	for _, s := range []State{{}, {Found: true, Value: "tok", TTL: time.Second}, {Found: true, Value: "x", TTL: 1}} {
		all := make([]State, len(m.Keys))
		for i := range all {
			all[i] = s
		}
		if _, err := m.Run(all); err != nil && !errors.As(err, new(*RefusedError)) {
			t.Errorf("Run(%v): %v", s, err)
		}
	}
}

func TestInputsAreBounded(t *testing.T) {
	many := call{`return redis.call('get', KEYS[1])`, lock, make([]string, maxPerCallInputs)}
	if _, err := many.understand(NewLibrary()); err == nil || err.Error() != "has more than 512 keys and arguments" {
		t.Errorf("too many arguments: %v", err)
	}
}

// FuzzUnderstand: no script panics, none takes for ever, and what is proved of
// one is what its runs do.
func FuzzUnderstand(f *testing.F) {
	for _, h := range hostile {
		f.Add(h.body, "lock", "tok", "5000")
	}
	for _, b := range behaviours {
		f.Add(b.body, "lock", "tok", "5000")
	}
	for _, body := range []string{takeObject, renewObject, releaseObject, swapObject, dropSafely, dropBoth} {
		f.Add(body, "lock", `{"owner":"tok"}`, "5000")
	}
	f.Fuzz(func(t *testing.T, body, key, token, ttl string) {
		watchdog := time.AfterFunc(10*time.Second, func() { panic("does not end: " + body) })
		defer watchdog.Stop()
		l := NewLibrary()
		l.Clock(func() int64 { return 1_700_000_000_000 })
		c := call{body, []string{key}, []string{token, ttl}}
		m, err := c.understand(l)
		bounded(t, m, err)
		if err == nil && m.Kind != PerCall {
			compare(t, c, m)
		}
	})
}
