package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root is the root of the sources.
const root = "../.."

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "redlockd-packaging-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var buildDir string

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "redlockd")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// redlockd is the path of the program.
func redlockd(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// checkConfig requires that redlockd -check finds the text right, with these
// variables, "NAME=value", and no others.
func checkConfig(t *testing.T, text string, env []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.hcl")
	write(t, file, text)
	cmd := exec.Command(redlockd(t), "-check", "-config", file)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("redlockd -check: %v\n%s", err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
