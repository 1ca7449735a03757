package faults

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"regexp"
	"sync"
	"time"
)

var traced = struct {
	sync.Mutex
	lines map[string][]string
}{lines: map[string][]string{}}

var keyInLine = regexp.MustCompile(`key-\d+-\d+`)

// trace keeps what a master carries out, by key, from MONITOR, if TRACE is set.
func (b *bench) trace(m *master) {
	if os.Getenv("TRACE") == "" {
		return
	}
	name, addr := m.name, m.Addr
	go func() {
		for !b.ended() {
			b.monitor(name, addr)
			time.Sleep(2 * time.Millisecond)
		}
	}()
}

func (b *bench) monitor(name, addr string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "MONITOR\r\n")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		line := lines.Text()
		key := keyInLine.FindString(line)
		if key == "" {
			continue
		}
		if len(line) > 300 {
			line = line[:40] + " ... " + line[len(line)-150:]
		}
		traced.Lock()
		traced.lines[key] = append(traced.lines[key], fmt.Sprintf("%9.3f master %s %s", b.h.now().Seconds(), name, line))
		traced.Unlock()
	}
}

func (b *bench) traceOf(key string) []string {
	traced.Lock()
	defer traced.Unlock()
	return traced.lines[key]
}
