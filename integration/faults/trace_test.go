package faults

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"sync"
	"time"
)

var traced struct {
	sync.Mutex
	lines map[string][]string
}

var keyInLine = regexp.MustCompile(`key-\d+-\d+`)

// trace keeps what each master carries out, by key, from MONITOR.
func (b *bench) trace() {
	traced.lines = map[string][]string{}
	for _, m := range b.masters {
		go func() {
			for !b.ended() {
				b.monitor(m)
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
}

func (b *bench) monitor(m *master) {
	c, err := net.Dial("tcp", m.Addr)
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
		traced.lines[key] = append(traced.lines[key], fmt.Sprintf("%9.3f master %s %s", b.h.now().Seconds(), m.name, line))
		traced.Unlock()
	}
}

func (b *bench) traceOf(key string) []string {
	traced.Lock()
	defer traced.Unlock()
	return traced.lines[key]
}
