package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	perSession     = "RSS KiB/session"
	heapPerSession = "heap KiB/session"
)

var idleColumns = []string{perSecond, p50, p99, perSession, heapPerSession, failures}

const busyClients = 64

// runIdle is workload c: two redlockd over the same masters, by turns, of
// which one has the idle sessions.
func runIdle(b *bench) error {
	n := b.idle
	if may := openFiles() - 2000; may < n {
		n = max(may, 1)
		b.note("The system allows %d open files, so there are %d idle sessions instead of %d.", openFiles(), n, b.idle)
	}
	c, err := b.rig.cluster(b.ctx, clusterOptions{})
	if err != nil {
		return err
	}
	other, err := b.rig.another(b.ctx, c, clusterOptions{})
	if err != nil {
		return err
	}
	without, with := "none idle", fmt.Sprintf("%d idle", n)
	list := []contender{
		{goRedis(through, c.redlockd.addr, busyClients), without, busyClients, parts{masters: c.masters, redlockd: c.redlockd}},
		{goRedis(through, other.addr, busyClients), with, busyClients, parts{masters: c.masters, redlockd: other}},
	}
	for _, l := range list {
		defer l.close()
	}
	cycles(list[1].fleet, busyClients, b.length, parts{}) // it has its memory for them
	before, err := memoryOf(other)
	if err != nil {
		return err
	}
	sessions, err := openSessions(other.addr, n)
	for _, s := range sessions {
		defer s.Close()
	}
	if err != nil {
		return err
	}
	after, err := memoryOf(other)
	if err != nil {
		return err
	}
	b.table.add("c", with, through, figures{perSession: (after.rss - before.rss) / float64(n) / 1024,
		heapPerSession: (after.heap - before.heap) / float64(n) / 1024})
	if err := b.compare("c", list); err != nil {
		return err
	}
	at := func(condition, what string) *figure { return b.figure("c", condition, through, what) }
	b.atMost("4", 16, at(with, perSession).Median(), "KiB of memory for an idle session")
	b.atMost("4", 1.2, ratio(at(with, p99), at(without, p99)), "the busy sessions' p99, with idle ones to without")
	return nil
}

// memory is what redlockd takes, in bytes: as the system sees it, in use by its
// heap and stacks, garbage included.
type memory struct{ rss, heap float64 }

func memoryOf(p *process) (m memory, err error) {
	if m.rss, err = rss(p.pid()); err != nil {
		return m, err
	}
	for _, name := range []string{"go_memstats_heap_inuse_bytes", "go_memstats_stack_inuse_bytes"} {
		v, err := p.metric(name)
		if err != nil {
			return m, err
		}
		m.heap += v
	}
	return m, nil
}

// liveHeap is what of the heap is alive. What only a pool holds goes with the
// second collection.
func liveHeap(p *process) (float64, error) {
	for range 2 {
		if err := p.collect(); err != nil {
			return 0, err
		}
	}
	return p.metric("go_memstats_heap_alloc_bytes")
}

// openSessions opens n connections that have each locked and released once,
// and then are idle, 32 at a time.
func openSessions(addr string, n int) ([]net.Conn, error) {
	conns, errs := make([]net.Conn, n), make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range next {
				conns[i], errs[i] = openSession(addr, i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	var open []net.Conn
	var first error
	for i, c := range conns {
		if c != nil {
			open = append(open, c)
		}
		if errs[i] != nil && first == nil {
			first = fmt.Errorf("idle session %d: %w", i, errs[i])
		}
	}
	return open, first
}

func openSession(addr string, i int) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	key := fmt.Sprintf("bench:idle:%d", i)
	for _, ask := range []struct{ command, want string }{
		{"SET " + key + " token NX PX 8000\r\n", "+OK"},
		{"DELEX " + key + " IFEQ token\r\n", ":"},
	} {
		if _, err := io.WriteString(c, ask.command); err != nil {
			return c, err
		}
		// NOQUORUM on a busy machine is an answer too: the session has worked.
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, ask.want) && !strings.HasPrefix(line, "-NOQUORUM") {
			return c, fmt.Errorf("%q was answered %q: %w", ask.command, line, err)
		}
	}
	return c, nil
}

// openFiles is how many files this process may have open; Go has raised that
// to all that it may be.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 1 << 20
	}
	return int(min(limit.Cur, 1<<20))
}
