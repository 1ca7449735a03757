package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// masters is the smallest valid configuration.
const masters = `
master "a" { address = "10.0.0.1:6379" }
master "b" { address = "10.0.0.2:6379" }
master "c" { address = "10.0.0.3:6379" }
`

// write writes a configuration to a new file and returns its name.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.hcl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// syncBuffer collects the output of several goroutines, and calls found when wanted has
// been written.
type syncBuffer struct {
	wanted string
	found  func()

	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.buf.Write(p)
	if b.wanted != "" && strings.Contains(b.buf.String(), b.wanted) {
		b.wanted = ""
		b.found()
	}
	return n, err
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
