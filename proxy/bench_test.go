package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

const (
	setFrame     = "*6\r\n$3\r\nSET\r\n$11\r\nlock:orders\r\n$20\r\n0123456789abcdef0123\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n"
	releaseText  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	releaseFrame = "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$11\r\nlock:orders\r\n$20\r\n0123456789abcdef0123\r\n"
)

// endless gives the same bytes for ever, one copy a read.
type endless []byte

func (e endless) Read(b []byte) (int, error) { return copy(b, e), nil }

// parser takes a command from what comes in.
func parser() func() [][]byte {
	f, lim := resp.NewReader(endless(setFrame), 0), resp.Limits{Arguments: 1024, Bytes: 1 << 20}
	return func() [][]byte {
		if f.Fill() != nil {
			return nil
		}
		args, err := f.Next(lim)
		if err != nil {
			return nil
		}
		return args
	}
}

func BenchmarkParse(b *testing.B) {
	next := parser()
	b.ReportAllocs()
	b.SetBytes(int64(len(setFrame)))
	for b.Loop() {
		if len(next()) != 6 {
			b.Fatal("not six arguments")
		}
	}
}

var fourReplies = []resp.Reply{resp.OK, resp.Null, resp.Int(1), resp.Bulk("0123456789abcdef0123")}

func BenchmarkReply(b *testing.B) {
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for _, r := range fourReplies {
			buf = resp.Append(buf, r, 2)
		}
	}
}

// agreeing is a Quorum that agrees to everything at once, so that what is
// measured is the way there and back.
type agreeing struct{ Quorum }

var agreed = &quorum.Outcome{Verdict: quorum.Won}

func (agreeing) Do(_ *quorum.Op, _ quorum.Client, done func(*quorum.Outcome)) { done(agreed) }
func (agreeing) Open(_ int, done func())                                      { done() }
func (agreeing) Bus(func(quorum.Message)) quorum.Bus                          { return alone{} }
func (agreeing) Now() int64                                                   { return time.Now().UnixMilli() }
func (agreeing) Status() quorum.Status                                        { return quorum.Status{} }

// cycling is a client of a session over a pipe, which locks and releases by
// SET NX and a script.
func cycling(tb testing.TB) (cycle func()) {
	tb.Helper()
	in := commands.New(commands.DefaultConfig(), agreeing{}.Now)
	srv := newServer(DefaultConfig(), in, agreeing{}, "1.2.3", hclog.NewNullLogger())
	ours, theirs := net.Pipe()
	srv.admit(ours)
	tb.Cleanup(func() {
		theirs.Close()
		if err := srv.Shutdown(tb.Context()); err != nil && tb.Context().Err() == nil {
			tb.Error(err)
		}
	})
	answer := make([]byte, 512)
	load, _ := in.Understand(0, [][]byte{[]byte("SCRIPT"), []byte("LOAD"), []byte(releaseText)})
	sha := load.Reply(nil).Text
	exchanges := []struct{ ask, want []byte }{
		{[]byte(setFrame), []byte("+OK\r\n")},
		{bytes.Replace([]byte(releaseFrame), []byte("%s"), []byte(sha), 1), []byte(":1\r\n")},
	}
	return func() {
		for _, e := range exchanges {
			if _, err := theirs.Write(e.ask); err != nil {
				tb.Fatal(err)
			}
			got := answer[:len(e.want)]
			if _, err := io.ReadFull(theirs, got); err != nil || !bytes.Equal(got, e.want) {
				tb.Fatalf("%q was answered %q: %v", e.ask, got, err)
			}
		}
	}
}

// BenchmarkCycle is a lock and its release from the client's bytes to the
// answer's, without the masters.
func BenchmarkCycle(b *testing.B) {
	cycle := cycling(b)
	b.ReportAllocs()
	for b.Loop() {
		cycle()
	}
}
