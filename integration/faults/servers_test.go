package faults

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

const (
	timeout = 300 * time.Millisecond
	// otherTimeout is that of the redlockd with other settings.
	otherTimeout = timeout / 2
	retryBudget  = 200 * time.Millisecond
	// stay bounds an answer's time in redlockd (V2); slack is what a busy
	// machine may add.
	// handover is for how long a change of the masters is announced (M8).
	handover = 1500 * time.Millisecond
	stay     = timeout + retryBudget
	slack    = 2500 * time.Millisecond
)

// keeper is the test, with folders that are kept when it fails and KEEP is
// set, and that lie in memory where the system has such: a power cut's file
// system is not what is tested.
type keeper struct {
	testing.TB
	dir string
}

func newKeeper(t testing.TB) keeper {
	base := ""
	if s, err := os.Stat("/dev/shm"); err == nil && s.IsDir() {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "redlockd-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("KEEP") != "" {
			t.Logf("logs are in %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	return keeper{t, dir}
}

func (k keeper) TempDir() string {
	dir, err := os.MkdirTemp(k.dir, "")
	if err != nil {
		k.Fatal(err)
	}
	return dir
}

// master is one redis-server.
type master struct {
	*rig.Master
	name      string
	fsync     string // of its file of appends; empty if it keeps none
	clock     string // the library that moves its clock; or empty
	aheadFile string // holds how far its clock is ahead; or empty
	ahead     time.Duration
	// copied is by how much longer than its own the copies last that it got as a replica
	// of a master whose clock is ahead.
	copied time.Duration
}

func (b *bench) newMaster(fsync, clock string) *master {
	m := &master{name: fmt.Sprint("m", b.names), fsync: fsync, clock: clock}
	b.names++
	var env, args []string
	if clock != "" {
		m.aheadFile = filepath.Join(b.k.dir, "ahead-"+m.name)
		if err := os.WriteFile(m.aheadFile, make([]byte, 8), 0o600); err != nil {
			b.k.Fatal(err)
		}
		env = []string{"LD_PRELOAD=" + clock, "CLOCK_AHEAD=" + m.aheadFile}
	}
	if fsync != "" {
		args = []string{"--appendonly", "yes", "--appendfsync", fsync}
	}
	m.Master = rig.StartMasterIn(b.k, env, args...)
	return m
}

// setAhead moves its wall clock.
func (b *bench) setAhead(m *master, d time.Duration) {
	m.ahead = d
	f, err := os.OpenFile(m.aheadFile, os.O_WRONLY, 0)
	if err != nil {
		b.tb.Errorf("clock of %s: %v", m.name, err)
		return
	}
	defer f.Close()
	_, _ = f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(d.Microseconds())), 0)
}

func (b *bench) do(m *master, args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.Client.Do(ctx, args...).Err(); err != nil && err != redis.Nil {
		b.tb.Logf("master %s: %v: %v", m.name, args, err)
	}
}

// clockLibrary builds the clock of testdata/clock.c, or returns "" where there
// is no compiler; then no clock steps.
func clockLibrary(k keeper) string {
	out := filepath.Join(k.dir, "clock.so")
	if text, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", out, "testdata/clock.c").CombinedOutput(); err != nil {
		k.Logf("no clock steps: %v %s", err, text)
		return ""
	}
	return out
}

// redlockd is one process under test, with links of its own to all masters.
type redlockd struct {
	*rig.Redlockd
	addr string
	// maxTTL is the greatest that it allows.
	maxTTL time.Duration
	links  []*rig.Link
	// disturbed is when it was last frozen or killed, in nanoseconds since
	// the bench began; disturbing while it is.
	disturbed  atomic.Int64
	disturbing atomic.Bool
	// killed is when it last came up again after a kill.
	killed atomic.Int64
}

func (b *bench) newRedlockd(n int) *redlockd {
	k := b.k
	r := &redlockd{addr: rig.FreeAddress(k)}
	cfg := rig.Config{Address: r.addr, Admin: rig.FreeAddress(k), Timeout: timeout, RetryBudget: retryBudget,
		MaxTTL: max(b.maxTTL, 1100*time.Millisecond), Quorum: os.Getenv("QUORUM"), Handover: handover, LogLevel: "debug"}
	for _, m := range b.masters {
		l := rig.NewLink(k, m.Addr)
		r.links = append(r.links, l)
		cfg.Masters, cfg.Names = append(cfg.Masters, l.Addr), append(cfg.Names, m.name)
	}
	if b.differ && n == b.plan.redlockds-1 {
		cfg.Timeout, cfg.MaxTTL = otherTimeout, (cfg.MaxTTL * 2 / 3).Truncate(time.Millisecond)
	}
	if b.each != nil {
		b.each(n, &cfg)
	}
	if n == 0 {
		rig.Bootstrap(k, cfg)
	}
	r.maxTTL = cfg.MaxTTL
	r.Redlockd = rig.JoinRedlockd(k, cfg)
	return r
}
