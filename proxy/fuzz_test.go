package proxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
)

// FuzzSession gives a session any bytes: it must end when the client is gone,
// and take nothing with it.
func FuzzSession(f *testing.F) {
	for _, c := range frameCases() {
		f.Add([]byte(c.in))
	}
	f.Add([]byte("HELLO 3\r\nMULTI\r\nPING\r\nSELECT 1\r\nEXEC\r\nSUBSCRIBE a b\r\nPUBLISH a x\r\nRESET\r\n"))
	f.Add([]byte("WATCH a b\r\nGET a\r\nMULTI\r\nDEL a\r\nEXEC\r\nSET a t NX PX 100\r\nCLIENT REPLY SKIP\r\nCLIENT LIST\r\n"))
	f.Add([]byte("INFO\r\nCONFIG GET *\r\nCOMMAND\r\nCOMMAND GETKEYS EVAL x 2 a b\r\nCLIENT INFO\r\nPUBSUB CHANNELS\r\nQUIT\r\n"))
	f.Add([]byte("BLPOP a b 0.01\r\nBRPOP a 0\r\nPING\r\nMULTI\r\nBLPOP a 0\r\nDEL a b\r\nPUBLISH a b\r\nECHO x\r\nEXEC\r\n"))
	f.Add([]byte("EVAL \"redis.call('rpush', KEYS[2], 1) redis.call('expire', KEYS[2], 9) return redis.call('del', KEYS[1])\" 2 a b\r\nBLPOP b 0\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		q := newFakeQuorum()
		cfg := DefaultConfig()
		cfg.MaxPipeline = 8
		var log bytes.Buffer
		srv := newServer(cfg, commands.New(commands.DefaultConfig(), q.Now), q, "1.2.3",
			hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: &log}))
		srv.grants = q
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
	})
}

// stopAll ends the sessions as Shutdown does, without a last call and without
// waiting.
func (s *Server) stopAll() {
	for _, ses := range s.clients() {
		ses.stop(time.Now())
	}
}
