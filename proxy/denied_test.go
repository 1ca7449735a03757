package proxy

import (
	"fmt"
	"testing"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/history"
)

// A right that turns out to be lacking only when the lock has been looked at
// is counted as well, and so is one that a command of EXEC lacks.
func TestDeniedWhilePlannedIsCounted(t *testing.T) {
	reads := orders()
	reads.Operations = commands.MayRelease | commands.MayRead
	srv := withUsers(t, reads)
	c := srv.dial(t)
	c.ask("AUTH orders pw", "+OK\r\n")
	// These free a lock whose token the client has not named, which nobody
	// knows before the token is there.
	const (
		one  = "EVAL \"if redis.call('get',KEYS[1])=='p:'..ARGV[1] then return redis.call('del',KEYS[1]) end return 0\" 1 locks:orders:1 t"
		many = "EVAL \"local n=0 for i,k in ipairs(KEYS) do if redis.call('get',k)=='p:'..ARGV[1] then n=n+redis.call('del',k) end end return n\" 2 locks:orders:1 locks:orders:2 t"
	)
	for i, tt := range [][2]string{
		{one, noCommand("eval")},
		{"MULTI\r\n" + one + "\r\nPING\r\nEXEC", "+OK\r\n+QUEUED\r\n+QUEUED\r\n" + noCommand("eval")},
		{many, noCommand("eval")},
		{"MULTI\r\nACL SETUSER x\r\nEXEC", "+OK\r\n" + noCommand("acl|setuser") + "-EXECABORT Transaction discarded because of previous errors.\r\n"},
	} {
		srv.q.mu.Lock()
		srv.q.locks["0/locks:orders:1"] = "p:t"
		srv.q.mu.Unlock()
		c.ask(tt[0], tt[1])
		if got := srv.Defences().Denied; got != uint64(i+1) {
			t.Errorf("%s: %d are counted as denied, want %d", tt[0], got, i+1)
		}
	}
}

// The codes that errors are counted by are few, whatever scripts answer.
func TestErrorCodesAreFew(t *testing.T) {
	q := newFakeQuorum()
	srv := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), nil)
	c := srv.dial(t)
	for i := range 50 {
		code := fmt.Sprintf("CODE%d", i)
		c.ask("EVAL \"return redis.error_reply(ARGV[1]..' x')\" 0 "+code, "-"+code+" x\r\n")
		c.ask("EVAL \"redis.call('get',KEYS[1]) return redis.error_reply(ARGV[1]..' x')\" 1 k "+code, "-"+code+" x\r\n")
	}
	c.ask("NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n")
	errors, _ := srv.stats.Snapshot()
	if len(errors) != 2 || errors["ERR"] != 1 || errors[history.OtherCode] != 100 {
		t.Errorf("errors are counted as %v", errors)
	}
}
