package proxy

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// S5: who comes when there are too many sessions and does not even listen to
// why costs little, and not for long.
func TestTurnedAwayAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, first := pipeWith(t, func(c *Config) { c.MaxClients = 1 })
		plain := func(c net.Conn) net.Conn { return c }
		for range MaxTurnedAway {
			srv.join(t, plain) // does not read
		}
		late := srv.join(t, plain)
		go late.read()
		if !late.ended() || late.received() != "" {
			t.Error("one too many is told why, or kept")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := srv.away.Load(); n != 0 {
			t.Errorf("%d are still being told", n)
		}
		next := srv.join(t, plain)
		go next.read()
		if !next.ended() || next.received() != "-ERR max number of clients reached\r\n" {
			t.Error("the next one is not told why")
		}
		if d := srv.Defences(); d.TurnedAway != MaxTurnedAway+2 {
			t.Errorf("%d are counted", d.TurnedAway)
		}
		first.send("PING\r\n")
		if first.ended() || first.received() != "+PONG\r\n" {
			t.Error("the session of before is gone")
		}
	})
}

// S5: so many sessions list at a time; the next one waits, and is told so.
func TestListingsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, last := pipe(t)
		srv.q.listGate = make(chan struct{})
		var lists []*piped
		for range maxLooking {
			c := srv.join(t, func(c net.Conn) net.Conn { return c })
			go c.read()
			c.send("LOCKS LIST\r\n")
			lists = append(lists, c)
		}
		synctest.Wait()
		last.send("SCAN 0\r\n")
		time.Sleep(listTime - time.Nanosecond)
		synctest.Wait()
		if got := last.received(); got != "" {
			t.Fatalf("one too many is answered %q", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := last.received(); got != "-"+errLooking.Text+"\r\n" {
			t.Errorf("one too many is answered %q", got)
		}
		close(srv.q.listGate)
		last.send("SCAN 0\r\n")
		synctest.Wait()
		if got := last.received(); got != "*2\r\n$1\r\n0\r\n*0\r\n" {
			t.Errorf("got %q when there is room", got)
		}
		for _, c := range lists {
			if got := c.received(); !strings.HasPrefix(got, "*4\r\n$5\r\nlocks\r\n*0\r\n") {
				t.Errorf("one of the first is answered %q", got)
			}
		}
	})
}

// S5: what a session may leave with redlockd is bounded.
func TestWhatIsKeptOfASession(t *testing.T) {
	q := newFakeQuorum()
	srv := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) { c.MaxCommandBytes = 1024 })
	c := srv.dial(t)
	longest := strings.Repeat("n", maxName)
	for _, tt := range [][2]string{
		{"CLIENT SETNAME " + longest, "+OK\r\n"},
		{"CLIENT SETNAME " + longest + "n", "-" + errClientName.Text + "\r\n"},
		{"CLIENT SETINFO lib-name " + longest + "n", "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n"},
		{"HELLO 3 SETNAME " + longest + "n", "-" + errClientName.Text + "\r\n"},
		{"CLIENT GETNAME", lengthy(longest)},
		// max_command_bytes bounds a transaction as well.
		{"MULTI", "+OK\r\n"},
		{"ECHO " + strings.Repeat("x", 600), "+QUEUED\r\n"},
		{"ECHO " + strings.Repeat("x", 600), "-" + errTooManyQueued.Text + "\r\n"},
		{"EXEC", "-" + errExecAbort.Text + "\r\n"},
		{"*2\r\n$4\r\nECHO\r\n$1024", "-ERR Protocol error: invalid bulk length\r\n"},
	} {
		c.ask(tt[0], tt[1])
	}
	c.wantEOF()
}

// What SLOWLOG keeps of one command is bounded.
func TestSlowLogOfManyKeys(t *testing.T) {
	q := newFakeQuorum()
	q.took = time.Second
	c := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), nil).dial(t)
	c.send("EXISTS" + strings.Repeat(" key", 100) + "\r\nSLOWLOG GET\r\n")
	if got := c.until("... (more keys)\r\n"); strings.Count(got, "$3\r\nkey\r\n") != 30 {
		t.Errorf("got %q", got)
	}
}
