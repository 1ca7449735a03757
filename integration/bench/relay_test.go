package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
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

// It does not throttle: what 200 connections ask takes as long as what one
// asks, and all that is sent arrives, in order.
func TestRelayDoesNotThrottle(t *testing.T) {
	const delay = 50 * time.Millisecond
	relayed, _ := startRelay(t, delay)
	start := time.Now()
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if err := exchange(relayed, 5, 100); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// One after the other would take 2,000 delays, 50 s.
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("200 connections took %v for 5 round trips through a relay of %v", took, delay)
	}
}

// exchange sends n times so many commands in one write, and waits for their
// answers.
func exchange(addr string, n, commands int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	want := []byte(strings.Repeat("+PONG\r\n", commands))
	got := make([]byte, len(want))
	for range n {
		if _, err := io.WriteString(c, strings.Repeat("PING\r\n", commands)); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("answered %q: %w", got, err)
		}
	}
	return nil
}
