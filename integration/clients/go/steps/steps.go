// Package steps is what the Go programs of the client bench share: how a step
// is told, and the contests in which many want one lock.
package steps

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Args are the host:port and the prefix of keys that every program is given,
// behind arguments of its own.
func Args() (own []string, addr, prefix string) {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: program [own...] HOST PORT PREFIX")
		os.Exit(2)
	}
	n := len(os.Args)
	return os.Args[1 : n-3], os.Args[n-3] + ":" + os.Args[n-2], os.Args[n-1]
}

// Password is what the server asks for, or nothing.
func Password() string { return os.Getenv("BENCH_PASSWORD") }

var mu sync.Mutex

// Tell prints the result of a step.
func Tell(step string, result any) {
	text, err := json.Marshal(map[string]any{step: result})
	if err != nil {
		panic(err)
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Println(string(text))
}

// Version tells the versions of modules, as they were built in.
func Version(modules ...string) {
	info, _ := debug.ReadBuildInfo()
	text := ""
	for _, name := range modules {
		for _, m := range info.Deps {
			if m.Path == name {
				text += " " + m.Version[1:]
			}
		}
	}
	Tell("version", text[1:])
}

// Result is what is told of a value and an error that should not be.
func Result(v any, err error) any {
	if err != nil {
		return "FAILED " + err.Error()
	}
	return v
}

// Refusal is what is told of an error that should be: its text.
func Refusal(err error) any {
	if err == nil {
		return "FAILED: no error"
	}
	return err.Error()
}

// Contest lets workers want one lock at the same time, rounds times each.
// take blocks until it has the lock and returns what gives it back.
func Contest(workers, rounds int, take func(worker int) (release func() error, err error)) any {
	var inside, most, done atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, workers)
	for w := range workers {
		wg.Go(func() {
			for range rounds {
				release, err := take(w)
				if err != nil {
					failed <- err
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Millisecond) // others would come in meanwhile
				inside.Add(-1)
				if err := release(); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return "FAILED " + err.Error()
	default:
		return map[string]int64{"rounds": done.Load(), "at once": most.Load()}
	}
}

// Poll tries until it is true, at most for a time. The masters keep a lock a
// little longer than its TTL.
func Poll(most time.Duration, try func() (bool, error)) error {
	deadline := time.Now().Add(most)
	for {
		ok, err := try()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still refused after %v", most)
		}
		time.Sleep(5 * time.Millisecond) // nothing tells when a lock is free: a client polls
	}
}

// WaitFor says whether take, which blocks, ends after the release of 300 ms
// later and not before.
func WaitFor(release func() error, take func() error) any {
	start := time.Now()
	released := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond) // the time that the wait must last
		released <- release()
	}()
	err := take()
	waited := time.Since(start)
	if e := <-released; e != nil {
		return "FAILED release: " + e.Error()
	}
	if err != nil {
		return "FAILED take: " + err.Error()
	}
	return waited >= 290*time.Millisecond
}
