package faults

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// executed is what the masters carried out, as MONITOR tells it over a
// connection of the bench's own to each: a file for each server, which the
// report of a violation is read from (executed_report_test.go).
type executed struct {
	over    chan struct{}
	end     sync.Once
	readers sync.WaitGroup

	mu    sync.Mutex
	files []string
	lines atomic.Int64 // read so far
}

func newExecuted(t testing.TB) *executed {
	e := &executed{over: make(chan struct{})}
	t.Cleanup(e.finish)
	return e
}

// finish ends what follow began, and with it the files.
func (e *executed) finish() {
	e.end.Do(func() { close(e.over) })
	e.readers.Wait()
}

// keep leaves copies of the files in a folder.
func (e *executed) keep(dir string) {
	for _, path := range e.files {
		if text, err := os.ReadFile(path); err == nil {
			_ = os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600)
		}
	}
}

func (e *executed) finished() bool {
	select {
	case <-e.over:
		return true
	default:
		return false
	}
}

// recording is the file of one server. Its lines are the time at which the
// master carried a command out and the one at which that was read, both in
// microseconds since the bench began, and what MONITOR printed.
type recording struct {
	b     *bench
	addr  string
	ahead string // the file that tells how far its clock is ahead; or empty
	to    io.Writer
	last  time.Duration // when what was read last was carried out
}

// missing is what stands for a command where some may not have been read, from one time
// to the other: the connection was lost.
const missing = "missing"

// follow records what a master carries out until the bench has its end, over
// as many connections as that takes.
func (b *bench) follow(m *master) {
	e, path := b.executed, filepath.Join(b.k.dir, "executed-"+m.name+".gz")
	f, err := os.Create(path)
	if err != nil {
		b.tb.Errorf("recording what %s carries out: %v", m.name, err)
		return
	}
	e.mu.Lock()
	e.files = append(e.files, path)
	e.mu.Unlock()
	zip, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	r := &recording{b: b, addr: m.Addr, ahead: m.aheadFile, to: zip, last: b.h.now()}
	first := make(chan struct{})
	e.readers.Go(func() {
		defer f.Close()
		defer zip.Close()
		for begun := sync.OnceFunc(func() { close(first) }); !e.finished(); {
			r.listen(e, begun)
			begun()
			time.Sleep(2 * time.Millisecond)
		}
	})
	<-first // so that nothing is missing from the start on
}

// listen records over one connection until that ends: the master was killed,
// it dropped a reader that was too slow, or the bench is over.
func (r *recording) listen(e *executed, begun func()) {
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		return
	}
	defer conn.Close()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-e.over:
			conn.Close()
		case <-ended:
		}
	}()
	fmt.Fprintf(conn, "MONITOR\r\n")
	lines := bufio.NewReaderSize(conn, 1<<16)
	if answer, err := lines.ReadString('\n'); err != nil || answer != "+OK\r\n" {
		return
	}
	now := r.b.h.now()
	fmt.Fprintf(r.to, "%d %d %s\n", r.last.Microseconds(), now.Microseconds(), missing)
	r.last = now
	begun()
	for ahead := r.aheadBy(); ; {
		if lines.Buffered() == 0 {
			ahead = r.aheadBy()
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		r.add(strings.TrimSpace(strings.TrimPrefix(line, "+")), ahead)
	}
}

// add records a line, unless it is the same for all keys.
func (r *recording) add(line string, ahead time.Duration) {
	read := r.b.h.now()
	stamp, rest, _ := strings.Cut(line, " ")
	seconds, micros, _ := strings.Cut(stamp, ".")
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	if err1 != nil || err2 != nil {
		return
	}
	defer r.b.executed.lines.Add(1)
	r.last = time.Unix(s, us*1000).Add(-ahead).Sub(r.b.h.began.Round(0))
	for _, dull := range []string{`] "GET" "redlockd:mark"`, `] "TIME"`, `] "ping"`} {
		if strings.HasSuffix(rest, dull) {
			return
		}
	}
	fmt.Fprintf(r.to, "%d %d %s\n", r.last.Microseconds(), read.Microseconds(), rest)
}

// aheadBy is by how much the master's clock is ahead of the bench's.
func (r *recording) aheadBy() time.Duration {
	text, err := os.ReadFile(r.ahead)
	if err != nil || len(text) < 8 {
		return 0
	}
	return time.Duration(binary.LittleEndian.Uint64(text)) * time.Microsecond
}

// TestExecuted is that the account of a key has what a master carried out on it,
// for which redlockd, and where something may be missing.
func TestExecuted(t *testing.T) {
	b := &bench{tb: t, k: newKeeper(t), h: newHistory(), executed: newExecuted(t)}
	m := b.newMaster("", "")
	b.follow(m)
	ctx := context.Background()
	do := func(args ...any) {
		t.Helper()
		if err := m.Client.Do(ctx, args...).Err(); err != nil && err != redis.Nil {
			t.Fatal(err)
		}
	}
	from := b.h.now()
	do("SET", "key-1-1", "a", "NX", "GET", "PXAT", "99999999999999")
	do("SET", "key-1-11", "b", "NX")
	do("EVAL", strings.Repeat("-- more\n", 100)+releaseScript, 2, "key-1-1", "key-1-2", "a")
	do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	rig.Eventually(t, "it is recorded again", func() (bool, string) {
		list, err := m.Client.Do(ctx, "CLIENT", "LIST").Text()
		return strings.Contains(list, "cmd=monitor"), fmt.Sprint(list, err)
	})
	do("DEL", "key-1-1")
	rig.Eventually(t, "the last line is read", func() (bool, string) { return b.executed.lines.Load() > 5, "" })
	b.executed.finish()
	b.h.add(&call{kind: acquire, key: "key-1-1", token: "a", redlockd: 3, sent: from, got: from})
	b.h.tell("key-1-1", from, b.h.now())
	b.giveAccounts()
	got := b.h.accounts["key-1-1"].String()
	for _, want := range []string{
		`call 0 client 0  redlockd 3 acquire key-1-1 .*`,
		`master m0 for redlockd 3 \(127.0.0.1:\d+\): "SET" "key-1-1" "a" .*`,
		`master m0 for redlockd 3 \(127.0.0.1:\d+\): "EVAL" .* ... "key-1-1" "key-1-2" "a"`,
		`master m0 for redlockd 3 \(127.0.0.1:\d+\):   "GET" "key-1-1"`,
		`master m0 for redlockd 3 \(127.0.0.1:\d+\):   "DEL" "key-1-1"`,
		`master m0: what it carried out until .* may be missing`,
		`master m0 for redlockd 3 \(127.0.0.1:\d+\): "DEL" "key-1-1"`,
	} {
		line, rest, _ := strings.Cut(got, "\n")
		if !regexp.MustCompile(`^ +[0-9. ]+ ` + want + `$`).MatchString(line) {
			t.Fatalf("line %q, want %s; all:\n%s", line, want, b.h.accounts["key-1-1"])
		}
		got = rest
	}
	if got != "" {
		t.Errorf("more than wanted: %s", got)
	}
}
