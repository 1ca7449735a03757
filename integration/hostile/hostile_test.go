package hostile

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// maxMemory is what redlockd is given for what sessions leave waiting.
const maxMemory = 64 << 20

// bound is what redlockd may take with n clients: what it is given, 48 KiB of
// buffers and bookkeeping for each, both twice because Go collects garbage when
// the heap has doubled, and 64 MiB for itself.
//
// The race detector keeps its own notes of all that, several times as much.
func bound(n int) int64 {
	most := 2*(maxMemory+int64(n)*48<<10) + 64<<20
	if rig.Race {
		most *= 8
	}
	return most
}

const access = `
  max_clients   = 12000
  max_pending   = 1000
  max_memory    = 67108864
  login_timeout = "20s"
  user "honest" {
    password   = "of the honest"
    keys       = ["honest:*"]
    operations = ["acquire", "release"]
  }
  user "hostile" {
    password   = "of the hostile"
    keys       = ["hostile:*"]
    operations = ["acquire", "read"]
  }
`

// S5: hostile clients cost redlockd a bounded memory, and the honest ones
// little time; nobody is kept out.
func TestS5HostileClients(t *testing.T) {
	masters := rig.StartMasters(t, 3)
	cfg := rig.Over(masters)
	cfg.Password, cfg.Listen = "of the test", access
	// Who waits is to be seen as one that waits, and not as NOQUORUM.
	cfg.Timeout, cfg.RetryBudget = 5*time.Second, 5*time.Second
	r := rig.StartRedlockd(t, cfg, masters)
	half := *clients / 2
	all := gather(t, r.Addr, half)

	calm := max(*lasting/3, time.Second)
	time.Sleep(calm) // what is measured is what happens meanwhile
	before := r.RSS()
	all.hostile.Store(true)
	peak := suffer(t, r, all)
	all.hostile.Store(false)
	time.Sleep(calm)
	all.leave()

	quiet, loud := percentile99(all.waited[0]), percentile99(all.waited[1])
	t.Logf("%d honest clients, %d hostile ones for %v", half, half, *lasting)
	t.Logf("memory: %d MiB before, %d MiB at most, bound %d MiB", before>>20, peak>>20, bound(*clients)>>20)
	t.Logf("99th percentile of an acquire: %v without (%d), %v with hostile clients (%d); of a login: %v (%d)",
		quiet, len(all.waited[0]), loud, len(all.waited[1]), percentile99(all.logins), len(all.logins))
	t.Logf("NOQUORUM heard: %d times without, %d times with hostile clients", all.refused[0].Load(), all.refused[1].Load())
	for _, limit := range []string{"max_pending", "max_memory"} {
		t.Logf("closed because of %s: %.0f", limit, r.Metric(`redlockd_sessions_closed_total{limit="`+limit+`"}`))
	}
	if peak > bound(*clients) {
		t.Errorf("redlockd took %d bytes, want at most %d", peak, bound(*clients))
	}
	if *slower > 0 && float64(loud) > *slower*float64(quiet) {
		t.Errorf("with hostile clients an acquire takes %v, %v without: more than %v times", loud, quiet, *slower)
	}
}

// suffer lets the hostile clients loose, in a process of their own, since they
// are to keep redlockd from its work and not the honest ones from theirs. It
// returns the greatest memory that redlockd had.
func suffer(t *testing.T, r *rig.Redlockd, all *crowd) (peak int64) {
	ctx, cancel := context.WithTimeout(t.Context(), *lasting)
	defer cancel()
	others := exec.CommandContext(t.Context(), os.Args[0], "-to", r.Addr,
		"-clients", strconv.Itoa(*clients), "-lasting", lasting.String())
	others.Stderr = os.Stderr
	if err := others.Start(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { all.arrive(ctx) })
	for ctx.Err() == nil {
		peak = max(peak, r.RSS())
		rest(ctx, 200*time.Millisecond)
	}
	wg.Wait()
	if err := others.Wait(); err != nil {
		t.Errorf("the hostile ones: %v", err)
	}
	return peak
}

// attack is n hostile clients, for as long as they last.
func attack(addr string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), *lasting)
	defer cancel()
	var wg sync.WaitGroup
	kinds := []func(context.Context, net.Conn){slowly, absurd, halfOpen, guess, unread}
	for i := range n {
		kind := kinds[i%len(kinds)]
		wg.Go(func() {
			rest(ctx, returning*time.Duration(i)/time.Duration(n)) // not all at once
			again(ctx, addr, kind)
		})
	}
	wg.Wait()
}

// returning is after how long one that was thrown out comes back.
const returning = 5 * time.Second

// again connects, lets a client be hostile until it is thrown out, and comes
// back. Its address is another one than that of the honest.
func again(ctx context.Context, addr string, kind func(context.Context, net.Conn)) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: time.Second}
	for ctx.Err() == nil {
		if c, err := from.DialContext(ctx, "tcp", addr); err == nil {
			stop := context.AfterFunc(ctx, func() { c.Close() })
			kind(ctx, c)
			stop()
			c.Close()
		}
		rest(ctx, returning)
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// enter logs in as one who may do little.
func enter(c net.Conn) { _, _ = c.Write(command("AUTH", "hostile", "of the hostile")) }

// slowly sends a long command, a byte a second.
func slowly(ctx context.Context, c net.Conn) {
	enter(c)
	_, _ = io.WriteString(c, "*2\r\n$4\r\nECHO\r\n$1000000\r\n")
	for ctx.Err() == nil {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
		rest(ctx, time.Second)
	}
}

// absurd announces what no memory holds.
func absurd(_ context.Context, c net.Conn) {
	enter(c)
	_, _ = io.WriteString(c, "*1024\r\n$1\r\nx\r\n$9223372036854775800\r\nab\r\n*9000000000000000000\r\n")
	_, _ = io.Copy(io.Discard, c)
}

// halfOpen never says anything.
func halfOpen(_ context.Context, c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// guess tries passwords.
func guess(_ context.Context, c net.Conn) {
	reply := make([]byte, 256)
	for {
		if _, err := c.Write(command("AUTH", "honest", "of the hostile")); err != nil {
			return
		}
		if _, err := c.Read(reply); err != nil {
			return
		}
	}
}

// unread asks for much and reads nothing: short commands with long replies.
func unread(ctx context.Context, c net.Conn) {
	_ = c.(*net.TCPConn).SetReadBuffer(4096) // only to be more hostile
	enter(c)
	_, _ = c.Write(bytes.Repeat(command("COMMAND"), 40))
	_, _ = c.Write(command("ECHO", string(make([]byte, 50_000))))
	<-ctx.Done()
}
