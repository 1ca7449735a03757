package rig

import (
	"os/exec"
	"time"
)

// TB is what rig asks of the test that it works for; *testing.T and
// *testing.B have it. What is called from other goroutines than the test's
// ends that goroutine when it fails.
type TB interface {
	Helper()
	Cleanup(func())
	TempDir() string
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Patience is how long a test waits for something that must happen by itself.
// It is long, since a busy machine is no failure.
const Patience = 30 * time.Second

// Eventually waits until cond is true. What cond says of its state is shown
// when it does not become true.
func Eventually(tb TB, what string, cond func() (bool, string)) {
	tb.Helper()
	deadline := time.Now().Add(Patience)
	for {
		ok, state := cond()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within %v; last seen: %s", what, Patience, state)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Program returns the path of an installed program, or fails the test: what
// is not run is not shown to work.
func Program(tb TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Fatalf("%s is not installed (%v): run `make deps`", name, err)
	}
	return path
}
