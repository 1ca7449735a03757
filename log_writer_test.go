package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNobodyWaitsForTheReaderOfTheLog: lines are written while nothing is read, those that
// find no room are counted in a line like the others, and the end of the process waits only
// for a while.
func TestNobodyWaitsForTheReaderOfTheLog(t *testing.T) {
	// The first line is being written, and so many more find room.
	const kept, all = 1 + mostUnwritten/1024, 2000
	for _, form := range []struct{ name, line, missing string }{
		{"text", "%04d %s\n", `\S+ \[WARN\]  redlockd: lines are missing here, because the log was not read in time: lines=%d`},
		{"JSON", `{"n":"%04d","x":"%s"}` + "\n", `{"@level":"warn","@message":"lines are missing here, because the log was not read in time","@module":"redlockd","@timestamp":"[^"]+","lines":%d}`},
	} {
		t.Run(form.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				log := newLogWriter(w)
				filler := strings.Repeat("x", 1024-len(fmt.Sprintf(form.line, 0, "")))
				for n := range all {
					fmt.Fprintf(log, form.line, n, filler)
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
				lines := strings.Split(<-got, "\n")
				last := regexp.MustCompile("^" + fmt.Sprintf(form.missing, all-kept) + "$")
				if len(lines) != kept+2 || lines[kept+1] != "" || !last.MatchString(lines[kept]) {
					t.Errorf("%d lines, want %d, and then %q", len(lines), kept, lines[max(0, len(lines)-2):])
				}
			})
		})
	}
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
