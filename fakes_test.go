package main

import (
	"bytes"
	"strings"
	"sync"
)

// syncBuffer collects output of several goroutines, and calls found when
// wanted has come.
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
