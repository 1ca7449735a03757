package script

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const release = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

func TestLoadIsTheSHA1OfTheBytes(t *testing.T) {
	l := NewLibrary()
	sha, err := l.Load("return 1")
	if want := "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"; sha != want || err != nil {
		t.Fatalf("got %s %v, want %s", sha, err, want)
	}
	if !l.Exists(sha) || !l.Exists(strings.ToUpper(sha)) || l.Exists("x") {
		t.Error("Exists is wrong")
	}
	if _, err := l.Understand(0, strings.ToUpper(sha), nil, nil); err != nil {
		t.Errorf("by its SHA1 in capitals: %v", err)
	}
	l.Flush()
	if _, err := l.Understand(0, sha, nil, nil); err != ErrNoScript || l.Exists(sha) {
		t.Errorf("after Flush: %v", err)
	}
}

func TestCompileErrors(t *testing.T) {
	const prefix = "ERR Error compiling script (new function): user_script:"
	for body, want := range map[string]string{
		"return foo(":                "1: syntax error near '<eof>'",
		"local x = 1\nlocal y = = 2": "2: syntax error near '='",
	} {
		_, err := NewLibrary().Load(body)
		if err == nil || err.Error() != prefix+want {
			t.Errorf("%q: got %v, want %s", body, err, prefix+want)
		}
	}
}

func TestLibraryIsBounded(t *testing.T) {
	l := NewLibrary()
	var last string
	for i := range 2 * maxScripts {
		body := fmt.Sprintf("%s --%d %s", release, i, strings.Repeat("x", i%900))
		last, _ = l.Load(body)
		if _, err := l.Understand(0, last, lock, mine); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.scripts.entries); n > maxScripts || l.bytes > maxSourceTotal {
		t.Errorf("%d scripts of %d bytes", n, l.bytes)
	}
	if n := len(l.shapes.entries); n > maxShapes {
		t.Errorf("%d shapes", n)
	}
	if !l.Exists(last) {
		t.Error("the latest script is forgotten")
	}
	for i := range 10 * maxMeanings {
		c := call{`return ARGV[1] .. 'x'`, nil, []string{fmt.Sprint(i, "-")}}
		if _, err := c.understand(l); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range l.shapes.entries {
		if n := len(e.Value.(*lruEntry[*memory]).v.meanings.entries); n > maxMeanings {
			t.Errorf("%d meanings of one shape", n)
		}
	}
}

func TestLibraryIsShared(t *testing.T) {
	l := NewLibrary()
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for n := range 200 {
				b := behaviours[(n+i)%len(behaviours)]
				m, err := b.understand(l)
				if err == ErrNoScript { // flushed by another
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", b.name, err)
				} else if m.Kind == PerCall {
					m.Run([]State{{Found: true, Value: "tok", TTL: 1e9}})
				}
				if n%50 == 0 {
					l.Flush()
				}
			}
		})
	}
	wait.Wait()
}

// TestRememberedRunsNothing: the steady state costs a look-up and the meaning.
func TestRememberedRunsNothing(t *testing.T) {
	l := NewLibrary()
	for _, c := range []call{{release, lock, mine}, {addOrReplace, lock, []string{"tok", "5000", "1"}}} {
		sha, _ := l.Load(c.body)
		if _, err := l.Understand(0, sha, c.keys, c.args); err != nil {
			t.Fatal(err)
		}
		allocations := testing.AllocsPerRun(100, func() { l.Understand(0, sha, c.keys, c.args) })
		if allocations > 4 {
			t.Errorf("%v allocations for a remembered meaning", allocations)
		}
	}
}

func BenchmarkUnderstandRemembered(b *testing.B) {
	l := NewLibrary()
	sha, _ := l.Load(release)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Understand(0, sha, lock, mine); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnderstandFlag(b *testing.B) {
	l, args := NewLibrary(), []string{"tok", "5000", "1"}
	sha, _ := l.Load(addOrReplace)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Understand(0, sha, lock, args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnderstandPerCall(b *testing.B) {
	l, args := NewLibrary(), []string{"tok", "5000", "0"}
	sha, _ := l.Load(addOrReplace)
	b.ReportAllocs()
	for b.Loop() {
		m, err := l.Understand(0, sha, lock, args)
		if err != nil {
			b.Fatal(err)
		}
		m.Run([]State{{Found: true, Value: "tok", TTL: 1e9}})
	}
}

func BenchmarkProve(b *testing.B) {
	sha, _ := NewLibrary().Load(release)
	c, _ := compile(sha, release)
	b.ReportAllocs()
	for b.Loop() {
		var f form
		f.inputs, f.keys = []string{"lock", "tok"}, 1
		f.compare()
		prove(c, &f)
	}
}

// BenchmarkUnderstandSeveral is a lock on two keys, as node-redlock takes it:
// it is run for each call, and once more on what is found.
func BenchmarkUnderstandSeveral(b *testing.B) {
	l := NewLibrary()
	sha, _ := l.Load(`
		for i, key in ipairs(KEYS) do if redis.call('exists', key) == 1 then return 0 end end
		for i, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'PX', ARGV[2]) end
		return #KEYS`)
	keys, args := []string{"lock:{a}", "lock:{b}"}, []string{"cd97ffb1-2a7b-4d8f-9d0e-1c7b2f6a9b52", "10000"}
	b.ReportAllocs()
	for b.Loop() {
		m, err := l.Understand(0, sha, keys, args)
		if err != nil || m.Kind != PerCall {
			b.Fatal(m, err)
		}
		if _, err := m.Run([]State{{}, {}}); err != nil {
			b.Fatal(err)
		}
	}
}
