package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNobodyWaitsForTheReaderOfTheLog: lines are written while nothing is read, those that
// find no room are counted, and the end of the process waits only for a while.
func TestNobodyWaitsForTheReaderOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		log := newLogWriter(w)
		line := strings.Repeat("x", 1023) + "\n"
		for n := range 2000 {
			fmt.Fprintf(log, "%04d%s", n, line[4:])
			synctest.Wait()
		}
		began := time.Now()
		log.Close()
		if took := time.Since(began); took != flushTime {
			t.Errorf("the end waits %v for a reader that stands still, want %v", took, flushTime)
		}
		got := make(chan string)
		go func() { text, _ := io.ReadAll(r); got <- string(text) }()
		<-log.done
		w.Close()
		text := <-got
		// The first line is being written, and so many more find room.
		const kept = 1 + mostUnwritten/1024
		missing := fmt.Sprintf("\nredlockd: %d lines are missing here, because the log was not read in time\n", 2000-kept)
		if n := strings.Count(text, "x\n"); n != kept || !strings.HasSuffix(text, missing) {
			t.Errorf("%d lines of %d, and then %q", n, kept, text[max(0, len(text)-len(missing)):])
		}
	})
}

// TestAllIsWrittenAtTheEnd: the process ends when its last lines are written.
func TestAllIsWrittenAtTheEnd(t *testing.T) {
	out := &syncBuffer{}
	log := newLogWriter(out)
	for n := range 1000 {
		fmt.Fprintln(log, n)
	}
	log.Close()
	if got := out.String(); !strings.HasPrefix(got, "0\n1\n") || !strings.HasSuffix(got, "\n999\n") {
		t.Errorf("%d bytes are written: %.20q ...", len(got), got)
	}
}
