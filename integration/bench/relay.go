package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// relay puts delays before a cluster's masters: all of them, or the last
// o.slow. It runs in a process of its own, this binary with -relay, so that
// its work is counted to nobody.
func (r *rig) relay(ctx context.Context, c *cluster, o clusterOptions) error {
	if o.delay == 0 {
		return nil
	}
	first := 0
	if o.slow > 0 {
		first = len(c.addrs) - o.slow
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := r.launch(self, append([]string{"-relay", o.delay.String()}, c.addrs[first:]...)...)
	if err != nil {
		return err
	}
	return p.await(ctx, func() error {
		said := p.log.String()
		addrs := strings.Fields(said)
		if !strings.HasSuffix(said, "\n") || len(addrs) != len(c.addrs)-first {
			return fmt.Errorf("the relay does not say where it listens")
		}
		copy(c.addrs[first:], addrs)
		c.relay = p
		return nil
	})
}

// runRelay is the process: it forwards to each of the addresses, and prints
// where it listens for them, in that order.
func runRelay(ctx context.Context, delay time.Duration, to []string, out io.Writer) error {
	d := newDelayLine(delay / 2) // it passes twice, there and back
	var text strings.Builder
	for _, addr := range to {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer ln.Close()
		fmt.Fprintln(&text, ln.Addr())
		go d.accept(ln, addr)
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	go d.run()
	<-ctx.Done()
	return nil
}

// delayLine holds bytes back for a time. All are held back equally long, so
// they leave in the order in which they came, however many there are: it
// delays and does not throttle.
type delayLine struct {
	delay time.Duration

	mu    sync.Mutex
	some  sync.Cond
	queue []parcel
}

// parcel is what was read at once; without data, the end of its connection.
type parcel struct {
	due  time.Time
	to   net.Conn
	data []byte
}

func newDelayLine(delay time.Duration) *delayLine {
	d := &delayLine{delay: delay}
	d.some.L = &d.mu
	return d
}

func (d *delayLine) accept(ln net.Listener, addr string) {
	for {
		client, err := ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", addr)
		if err != nil {
			_ = client.Close()
			continue
		}
		go d.pump(server, client)
		go d.pump(client, server)
	}
}

// pump reads from one side until its end.
func (d *delayLine) pump(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			d.put(parcel{time.Now().Add(d.delay), to, append([]byte(nil), buf[:n]...)})
		}
		if err != nil {
			d.put(parcel{due: time.Now().Add(d.delay), to: to})
			return
		}
	}
}

func (d *delayLine) put(p parcel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, p)
	d.some.Signal()
}

// run delivers what is due, for ever.
func (d *delayLine) run() {
	sleep := preciseSleep()
	for {
		d.mu.Lock()
		for len(d.queue) == 0 {
			d.some.Wait()
		}
		batch := d.queue
		d.queue = nil
		d.mu.Unlock()
		for _, p := range batch {
			if wait := time.Until(p.due); wait > 0 {
				sleep(wait)
			}
			if p.data == nil {
				_ = p.to.Close()
				continue
			}
			_, _ = p.to.Write(p.data) // a closed one is ended by its reader
		}
	}
}

// roundTrip is the median time that a PING takes.
func roundTrip(addr string) (time.Duration, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	var times []time.Duration
	for range 101 {
		start := time.Now()
		if _, err := io.WriteString(c, "PING\r\n"); err != nil {
			return 0, err
		}
		if line, err := in.ReadString('\n'); err != nil || line != "+PONG\r\n" {
			return 0, fmt.Errorf("PING was answered %q: %w", line, err)
		}
		times = append(times, time.Since(start))
	}
	return percentile(times, 0.5), nil
}
