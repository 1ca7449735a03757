package proxy

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// startUnix is start, at a Unix socket.
func startUnix(t *testing.T, change func(*Config)) *running {
	t.Helper()
	cfg, q := DefaultConfig(), newFakeQuorum()
	change(&cfg)
	srv := newServer(cfg, fakeInterpreter{}, q, "", hclog.NewNullLogger())
	srv.writers.Promises, srv.parkAfter = q, 10*time.Millisecond
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, srv, q, ln)
}

// TestUnixSocketIsShownAsInRedis: CLIENT LIST has the path at both ends, and the flag U; a holder
// is named by it.
func TestUnixSocketIsShownAsInRedis(t *testing.T) {
	r := startUnix(t, func(*Config) {})
	c := r.dial(t)
	c.ask("LOCK k t", "+OK\r\n")
	_, list := r.Sessions(1)
	_, held := r.Held(1)
	if want := r.addr + ":0"; len(list) != 1 || list[0].Address != want || len(held) != 1 || held[0].Address != want {
		t.Errorf("sessions are %+v, held is %+v, want both at %s", list, held, want)
	}
	line := describe(r.clients()[0])
	if want := " addr=" + r.addr + ":0 laddr=" + r.addr + ":0 "; !strings.Contains(line, want) || !strings.Contains(line, " flags=U ") {
		t.Errorf("CLIENT LIST has %s, want %s and flags=U", line, want)
	}
	c.send("MULTI\r\n")
	c.want("+OK\r\n")
	c.send("PING\r\n")
	c.want("+QUEUED\r\n")
	if line := describe(r.clients()[0]); !strings.Contains(line, " flags=xU ") {
		t.Errorf("in MULTI CLIENT LIST has %s", line)
	}
}

// TestUnixSocketHasTheLimits: too many clients are told so, those that do not log in make way for
// one another, and wrong passwords slow each other down.
func TestUnixSocketHasTheLimits(t *testing.T) {
	r := startUnix(t, func(c *Config) { c.MaxClients = 2; c.MaxPending = 1; c.Passwords = []string{"p"} })
	first := r.dial(t)
	first.ask("AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.\r\n")
	if r.loginLimiter.Pause(r.addr+":0") == 0 {
		t.Error("a wrong password delays nothing")
	}
	second := r.dial(t)
	second.ask("AUTH p", "+OK\r\n")
	first.wantEOF() // closed for second
	until(t, "the first to be gone", func() bool { return r.Clients() == 1 })
	r.dial(t).ask("AUTH p", "+OK\r\n")
	r.dial(t).want(fullReply)
}

// TestUnixSocketIsParked: an idle session has no goroutine, and is woken.
func TestUnixSocketIsParked(t *testing.T) {
	r := startUnix(t, func(*Config) {})
	c := r.dial(t)
	c.ask("PING", "+PONG\r\n")
	r.parked(t, 1)
	c.ask("PING", "+PONG\r\n")
}
