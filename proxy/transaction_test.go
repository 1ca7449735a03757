package proxy

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

const execAbort = "-EXECABORT Transaction discarded because of previous errors.\r\n"

// S4: the state is the session's, with Redis's words.
func TestS4Multi(t *testing.T) {
	srv := start(t, nil)
	for name, talk := range map[string][2]string{
		"nested":            {"MULTI\r\nMULTI\r\nWATCH a\r\nEXEC", "+OK\r\n-ERR MULTI calls can not be nested\r\n-ERR WATCH inside MULTI is not allowed\r\n*0\r\n"},
		"without multi":     {"EXEC\r\nDISCARD\r\nUNWATCH", "-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n+OK\r\n"},
		"unknown":           {"MULTI\r\nFOO\r\nEXEC\r\nEXEC", "+OK\r\n-ERR unknown command 'FOO', with args beginning with: \r\n" + execAbort + "-ERR EXEC without MULTI\r\n"},
		"arity":             {"MULTI\r\nECHO\r\nPING\r\nEXEC", "+OK\r\n-ERR wrong number of arguments for 'echo' command\r\n+QUEUED\r\n" + execAbort},
		"subcommand":        {"MULTI\r\nCLIENT FOO\r\nEXEC", "+OK\r\n-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n" + execAbort},
		"exec with more":    {"MULTI\r\nEXEC a\r\nEXEC", "+OK\r\n-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n-ERR EXEC without MULTI\r\n"},
		"discarded":         {"MULTI\r\nLOCK d a\r\nDISCARD\r\nREAD d", "+OK\r\n+QUEUED\r\n+OK\r\n$-1\r\n"},
		"reset":             {"MULTI\r\nLOCK d a\r\nRESET\r\nEXEC\r\nREAD d", "+OK\r\n+QUEUED\r\n+RESET\r\n-ERR EXEC without MULTI\r\n$-1\r\n"},
		"local":             {"MULTI\r\nPING\r\nECHO a\r\nSELECT 1\r\nSELECT 99\r\nCLIENT GETNAME\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*5\r\n+PONG\r\n$1\r\na\r\n+OK\r\n-ERR DB index is out of range\r\n$-1\r\n"},
		"mixed":             {"MULTI\r\nSELECT 1\r\nLOCK m a\r\nEXEC\r\nREAD m", "+OK\r\n+QUEUED\r\n+QUEUED\r\n" + errMixedText + "$-1\r\n"},
		"mixed harmlessly":  {"MULTI\r\nPING\r\nLOCK h a\r\nECHO b\r\nPUBLISH c d\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n+PONG\r\n+OK\r\n$1\r\nb\r\n:0\r\n"},
		"config's arity":    {"MULTI\r\nCONFIG GET\r\nEXEC", "+OK\r\n-ERR wrong number of arguments for 'config|get' command\r\n" + execAbort},
		"unwatch and locks": {"MULTI\r\nUNWATCH\r\nLOCK u a\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n"},
		"auth":              {"MULTI\r\nAUTH nobody x\r\nPING\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-WRONGPASS invalid username-password pair or user is disabled.\r\n+PONG\r\n"},
		"blpop":             {"MULTI\r\nBLPOP l 0\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n*-1\r\n"},
		"subscribe":         {"MULTI\r\nSUBSCRIBE a\r\nEXEC", "+OK\r\n-ERR Command not allowed inside a transaction\r\n" + execAbort},
		"reply off":         {"MULTI\r\nCLIENT REPLY OFF\r\nEXEC", "+OK\r\n-ERR Command not allowed inside a transaction\r\n" + execAbort},
		"one lock":          {"MULTI\r\nLOCK one a\r\nEXEC\r\nREAD one", "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n$1\r\na\r\n"},
		"unwatch in multi":  {"MULTI\r\nUNWATCH\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"},
		"resp3 lost race":   {"HELLO 3\r\nWATCH nosuch\r\nMULTI\r\nFREE nosuch\r\nEXEC", "+OK\r\n+OK\r\n+QUEUED\r\n_\r\n"},
		"resp2 lost race":   {"WATCH nosuch\r\nMULTI\r\nFREE nosuch\r\nEXEC", "+OK\r\n+OK\r\n+QUEUED\r\n*-1\r\n"},
		"late confirmation": {"MULTI\r\nLOCK two a\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := srv.dial(t)
			c.send(talk[0] + "\r\n")
			if talk[0][:5] == "HELLO" {
				for range 34 {
					line, err := c.r.ReadString('\n')
					if err != nil {
						t.Fatal(err)
					}
					if line == "*0\r\n" {
						break
					}
				}
			}
			c.want(talk[1])
		})
	}
}

var errMixedText = "-" + errMixed.Text + "\r\n"

// S4: the transactions of StackExchange.Redis, byte for byte, with several
// callers' commands in one chunk.
func TestS4StackExchange(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.send(frame("LOCK", "lock:a", "token-1"))
	c.want("+OK\r\n")
	c.send(frame("WATCH", "lock:a") + frame("READ", "lock:a"))
	c.want("+OK\r\n$7\r\ntoken-1\r\n")
	c.send(frame("MULTI") + frame("FREE", "lock:a") + frame("EXEC") +
		frame("SELECT", "1") + frame("WATCH", "lock:a") + frame("READ", "lock:a"))
	c.want("+OK\r\n+QUEUED\r\n*1\r\n:1\r\n+OK\r\n+OK\r\n$-1\r\n")
	c.send(frame("UNWATCH") + frame("WATCH", "b") + frame("READ", "b"))
	c.want("+OK\r\n+OK\r\n$-1\r\n")
	// The shape for unknown versions: all but EXEC in one write.
	c.send(frame("UNWATCH") + frame("LOCK", "q", "tok") + frame("WATCH", "q") + frame("READ", "q") + frame("MULTI") + frame("FREE", "q"))
	c.want("+OK\r\n+OK\r\n+OK\r\n$3\r\ntok\r\n+OK\r\n+QUEUED\r\n")
	c.send(frame("EXEC"))
	c.want("*1\r\n:1\r\n")
}

// S4: WATCH is answered when it has read, EXEC waits for it, and what comes
// behind EXEC is handed down behind it.
func TestS4ExecWaitsForWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, c := pipe(t)
		c.send("LOCK k a\r\n")
		synctest.Wait()
		srv.q.hold("0/k")
		c.send("WATCH k\r\nMULTI\r\nFREE k\r\nEXEC\r\nREAD k\r\n")
		synctest.Wait()
		if got := c.received(); got != "+OK\r\n" {
			t.Errorf("answered %q before WATCH had read", got)
		}
		srv.q.mu.Lock()
		waiting := len(srv.q.held["0/k"])
		srv.q.mu.Unlock()
		if waiting != 1 {
			t.Errorf("%d operations were handed down before WATCH had read, want its read alone", waiting)
		}
		srv.q.release("0/k")
		synctest.Wait()
		if got, want := c.received(), "+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n:1\r\n$-1\r\n"; got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
	})
}

// S4: "what could not be read makes EXEC a top-level NOQUORUM".
func TestS4UnreadableWatch(t *testing.T) {
	q := newFakeQuorum()
	srv := startWith(t, q, fakeInterpreter{}, nil)
	srv.Server.q = unreadable{q}
	for _, queued := range []string{"FREE k", "PING"} {
		srv.dial(t).ask("WATCH k\r\nMULTI\r\n"+queued+"\r\nEXEC", "+OK\r\n+OK\r\n+QUEUED\r\n-NOQUORUM 0 of 3\r\n")
	}
}

// unreadable is a quorum without masters.
type unreadable struct{ *fakeQuorum }

func (unreadable) Do(_ *quorum.Op, _ quorum.Client, done func(*quorum.Outcome)) {
	done(&quorum.Outcome{Verdict: quorum.Undecided, Err: errors.New("NOQUORUM 0 of 3")})
}

// A client that leaves while EXEC waits leaves nothing behind.
func TestS4GoneWhileExecWaits(t *testing.T) {
	srv := start(t, nil)
	srv.q.hold("0/k")
	c := srv.dial(t)
	c.send("WATCH k\r\nMULTI\r\nLOCK k a\r\nEXEC\r\n")
	wait(t, "the read of WATCH", srv.q.asked)
	srv.clients()[0].Kill()
	srv.q.release("0/k")
	c.wantEOF()
	if srv.q.holder("0/k") != "" {
		t.Error("held by a client that has gone")
	}
}

func TestTransactionBounds(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.send("CLIENT REPLY OFF\r\nMULTI\r\n")
	go func() {
		for range maxQueued {
			if _, err := io.WriteString(c, "PING\r\n"); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, "PING\r\nDISCARD\r\nCLIENT REPLY ON\r\nMULTI\r\nECHO a\r\nEXEC\r\n")
	}()
	c.want("+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\na\r\n")
	args := []string{"WATCH"}
	for i := range maxWatched/2 + 1 {
		args = append(args, time.Duration(i).String())
	}
	c.send(frame(args...))
	c.want("+OK\r\n")
	args[0] = "watch"
	c.send(frame(args...))
	c.want("-ERR too many watched keys\r\n")
}

// What stands beside lock commands in a transaction that was lost is not done.
func TestS4MixedAndLost(t *testing.T) {
	r := start(t, nil)
	c, listener := r.dial(t), r.dial(t)
	listener.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	c.ask("WATCH gone", "+OK\r\n")
	c.send("MULTI\r\nPUBLISH c lost\r\nREAD gone\r\nEXEC\r\nPUBLISH c told\r\n")
	c.want("+OK\r\n+QUEUED\r\n+QUEUED\r\n*-1\r\n:1\r\n")
	listener.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$4\r\ntold\r\n")
}
