package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/redis/go-redis/v9"
)

// buildDir holds the binary for the length of the run.
var buildDir string

// Main runs the tests of a package and returns their exit code. It removes
// the binary that they have built.
func Main(m interface{ Run() int }) int {
	redis.SetLogger(quiet{})
	dir, err := os.MkdirTemp("", "redlockd-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	return m.Run()
}

// Binary returns the path of redlockd, which is built once for all tests.
func Binary(tb TB) string {
	tb.Helper()
	path, err := build()
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return path
}

// build builds with the race detector where the tests have it: a data race in
// redlockd then makes it exit with 66, and every test requires 0.
var build = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("REDLOCKD_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(buildDir, "redlockd")
	args := []string{"build", "-buildvcs=false", "-o", path}
	if Race {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "github.com/redlockd/redlockd")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building redlockd: %w\n%s", err, out)
	}
	return path, nil
})

// quiet drops what go-redis logs of masters that a test has killed.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
