package proxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
	"github.com/redlockd/redlockd/quorum"
)

// FuzzSession gives a session any bytes: it must end when the client is gone,
// and take nothing with it.
func FuzzSession(f *testing.F) {
	for _, text := range []string{"*1\r\n$4\r\nPI", "*0\r\n*-1\r\nPING\r\n", "*1\r\n$9223372036854775808\r\n", "*x\r\n",
		"*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n", "PING \"a\r\n", "*1025\r\n"} {
		f.Add([]byte(text))
	}
	f.Add([]byte("HELLO 3\r\nMULTI\r\nPING\r\nSELECT 1\r\nEXEC\r\nSUBSCRIBE a b\r\nPUBLISH a x\r\nRESET\r\n"))
	f.Add([]byte("WATCH a b\r\nGET a\r\nMULTI\r\nDEL a\r\nEXEC\r\nSET a t NX PX 100\r\nCLIENT REPLY SKIP\r\nCLIENT LIST\r\n"))
	f.Add([]byte("INFO\r\nCONFIG GET *\r\nCOMMAND\r\nCOMMAND GETKEYS EVAL x 2 a b\r\nCLIENT INFO\r\nPSUBSCRIBE *\r\nQUIT\r\n"))
	f.Add([]byte("BLPOP a b 0.01\r\nBRPOP a 0\r\nPING\r\nMULTI\r\nBLPOP a 0\r\nDEL a b\r\nPUBLISH a b\r\nECHO x\r\nEXEC\r\n"))
	f.Add([]byte("EVAL \"redis.call('rpush', KEYS[2], 1) redis.call('expire', KEYS[2], 9) return redis.call('del', KEYS[1])\" 2 a b\r\nBLPOP b 0\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) { fuzzSession(t, nil, in) })
}

// FuzzUser gives any bytes to a session of a user with few rights: it must ask
// nothing of the masters that the user may not.
func FuzzUser(f *testing.F) {
	for _, text := range []string{
		"SET my t NX PX 9\r\nSET other t NX PX 9\r\nGET my\r\nDEL my other\r\nMGET my other\r\nLOCKS WHO my\r\nSCAN 0\r\n",
		"WATCH my\r\nMULTI\r\nDEL my\r\nSET my t\r\nEXEC\r\nMULTI\r\nGET my\r\nSETNX my t\r\nPEXPIRE my 9\r\nEXEC\r\n",
		"EVAL \"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0\" 1 my t\r\n",
		"EVAL \"for i,k in ipairs(KEYS) do redis.call('set',k,ARGV[1],'NX','PX',9) end return redis.call('get','other')\" 2 my my2 t\r\n",
		"EVAL \"return redis.call('set',KEYS[1]..'x',ARGV[1]..'y','PX',9)\" 1 my t\r\nBLPOP my 0\r\nRESET\r\nAUTH few x\r\nGET k\r\n",
		"HELLO 3 AUTH few pw\r\nLOCKS FORCE other\r\nGETDEL my\r\nSET my t NX GET PX 9\r\nSELECT 3\r\nSET my t PX 9 IFEQ t\r\n",
	} {
		f.Add([]byte("AUTH few pw\r\n" + text))
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		few := users.User{Name: "few", Passwords: []string{"pw"}, Keys: []string{"my*"}, Operations: commands.MayAcquire | commands.MayRelease}
		for _, op := range fuzzSession(t, &few, in) {
			mine := strings.HasPrefix(op.Key, "my")
			for _, key := range op.Keys {
				mine = mine && strings.HasPrefix(key, "my")
			}
			if kind := op.Kind; !mine || kind != quorum.Acquire && kind != quorum.Release {
				t.Errorf("the masters were asked kind %d on %q %q", kind, op.Key, op.Keys)
			}
		}
	})
}

// fuzzSession sends in to a session, of a server with this user alone or
// without users, and returns what the masters were asked.
func fuzzSession(t *testing.T, user *users.User, in []byte) []quorum.Op {
	q := newFakeQuorum()
	cfg := DefaultConfig()
	cfg.MaxPipeline = 8
	if user != nil {
		cfg.Users = []users.User{*user}
	}
	var log bytes.Buffer
	srv := newServer(cfg, commands.New(commands.DefaultConfig(), q.Now), q, "1.2.3",
		hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: &log}))
	srv.writers.Promises = q
	ours, theirs := net.Pipe()
	srv.admit(ours)
	go func() {
		_, _ = theirs.Write(in) // the session may end before
		srv.stopAll()
	}()
	_, _ = io.Copy(io.Discard, theirs)
	theirs.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Errorf("the session does not end: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("a panic was recovered: %s", log.String())
	}
	if n := srv.memory.Held(); n != 0 {
		t.Errorf("%d bytes are still charged for", n)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ops
}

// stopAll ends the sessions as Shutdown does, without a last call and without
// waiting.
func (s *Server) stopAll() {
	for _, ses := range s.clients() {
		ses.stop(new(time.Now()))
	}
}
