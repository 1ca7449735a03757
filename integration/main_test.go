package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// buildDir holds the binary for the length of the run.
var buildDir string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redlockd-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	return m.Run()
}

// binary builds redlockd, once for all tests, and returns its path. With the
// race detector on, a data race in redlockd makes it exit with 66, and every
// test requires 0.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "redlockd")
	args := []string{"build", "-o", path}
	if raceDetector {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building redlockd: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the path of an installed program, or fails the test: what
// is not run is not shown to work.
func program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		tb.Fatalf("%s is not installed: run `make deps`", name)
	}
	if err != nil {
		tb.Fatalf("looking for %s: %v", name, err)
	}
	return path
}

// patience is how long a test waits for something that must happen by itself.
// It is long, since a busy machine is no failure.
const patience = 30 * time.Second

// eventually waits until cond is true. What cond says of its state is shown
// when it does not become true.
func eventually(tb testing.TB, what string, cond func() (bool, string)) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, state := cond()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within %v; last seen: %s", what, patience, state)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
