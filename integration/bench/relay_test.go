package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// startRelay relays to a server that answers every line with +PONG, and
// returns the addresses of both.
func startRelay(t *testing.T, delay time.Duration) (relayed, direct string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					if _, err := io.WriteString(c, "+PONG\r\n"); err != nil {
						return
					}
				}
			}()
		}
	}()
	told := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		if err := runRelay(ctx, delay, []string{ln.Addr().String()}, writerFunc(func(p []byte) { told <- string(p) })); err != nil {
			t.Error(err)
		}
	}()
	return strings.TrimSpace(<-told), ln.Addr().String()
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// The relay delays by what it says. A busy machine makes it later, never
// sooner.
func TestRelayDelays(t *testing.T) {
	const delay = 20 * time.Millisecond
	relayed, direct := startRelay(t, delay)
	near, err := roundTrip(direct)
	if err != nil {
		t.Fatal(err)
	}
	far, err := roundTrip(relayed)
	if err != nil {
		t.Fatal(err)
	}
	if far < delay || far > 2*delay+20*near {
		t.Errorf("a PING takes %v through a relay of %v, and %v without it", far, delay, near)
	}
}

// It does not throttle: what is sent at once arrives at once, and all of it,
// also over many connections.
func TestRelayDoesNotThrottle(t *testing.T) {
	const delay = 50 * time.Millisecond
	relayed, _ := startRelay(t, delay)
	start := time.Now()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			c, err := net.Dial("tcp", relayed)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			const n = 5000
			go io.WriteString(c, strings.Repeat("PING\r\n", n)) // the answers tell
			got := make([]byte, n*len("+PONG\r\n"))
			if _, err := io.ReadFull(c, got); err != nil || bytes.Count(got, []byte("+PONG\r\n")) != n {
				t.Errorf("not everything came back: %v", err)
			}
		})
	}
	wg.Wait()
	// One at a time it would take 80,000 delays.
	if took := time.Since(start); took > 100*delay {
		t.Errorf("80,000 commands took %v through a relay of %v", took, delay)
	}
}
