package main

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// mostUnwritten bounds in bytes what waits to be written to the log.
	mostUnwritten = 1 << 20
	// flushTime is how long the end of the process waits for the reader of the log.
	flushTime = time.Second
)

// logWriter writes to the log in a goroutine of its own. Whoever logs never waits for the
// reader of the log: one that stands still loses lines, and one that has gone loses all.
// Safe for concurrent use.
type logWriter struct {
	w    io.Writer
	done chan struct{} // closed when all is written

	mu     sync.Mutex
	more   sync.Cond // signalled when unwritten or closed changes
	closed bool
	// unwritten is what is to be written next, lost the number of writes that found no
	// room in it.
	unwritten []byte
	lost      int
}

func newLogWriter(w io.Writer) *logWriter {
	l := &logWriter{w: w, done: make(chan struct{})}
	l.more.L = &l.mu
	go l.run()
	return l
}

// Write never blocks, and returns no error.
func (l *logWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.unwritten)+len(line) > mostUnwritten {
		l.lost++
		return len(line), nil
	}
	l.unwritten = append(l.unwritten, line...)
	l.more.Signal()
	return len(line), nil
}

// run writes until everything is written that came before Close.
func (l *logWriter) run() {
	defer close(l.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.unwritten) == 0 && !l.closed {
			l.more.Wait()
		}
		if len(l.unwritten) == 0 {
			return
		}
		batch := l.unwritten
		if l.lost > 0 {
			batch = append(batch, missing(l.lost, batch[0] == '{')...)
		}
		l.unwritten, l.lost = nil, 0
		l.mu.Unlock()
		_, _ = l.w.Write(batch) // a reader that has gone ends nothing
		l.mu.Lock()
	}
}

// missing returns the line that says how many are missing, in the form that the others have.
func missing(lines int, json bool) []byte {
	var line bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Name: "redlockd", JSONFormat: json, Output: &line})
	log.Warn("lines are missing here, because the log was not read in time", "lines", lines)
	return line.Bytes()
}

// Close returns when everything is written, after flushTime at the latest.
func (l *logWriter) Close() {
	l.mu.Lock()
	l.closed = true
	l.more.Signal()
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(flushTime):
	}
}
