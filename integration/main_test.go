package integration

import (
	"os"
	"testing"

	"github.com/redlockd/redlockd/integration/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// The servers and faults are those of package rig.
type (
	Master = rig.Master
	Link   = rig.Link
	Config = rig.Config
)

// Redlockd is one with what these tests ask of it again and again.
type Redlockd struct {
	*rig.Redlockd
	tb testing.TB
}

const (
	patience      = rig.Patience
	raceDetector  = rig.Race
	releaseScript = rig.ReleaseScript
	extendScript  = rig.ExtendScript
)

// StartCluster starts n masters and a redlockd over them, and waits until all
// of them vote.
func StartCluster(tb testing.TB, n int) (*Redlockd, []*Master) {
	tb.Helper()
	masters := StartMasters(tb, n)
	return StartRedlockd(tb, overFive(masters), masters), masters
}

func StartRedlockd(tb testing.TB, cfg Config, masters []*Master) *Redlockd {
	tb.Helper()
	return &Redlockd{rig.StartRedlockd(tb, cfg, masters), tb}
}

func JoinRedlockd(tb testing.TB, cfg Config) *Redlockd {
	tb.Helper()
	return &Redlockd{rig.JoinRedlockd(tb, cfg), tb}
}

func Bootstrap(tb testing.TB, cfg Config) { tb.Helper(); rig.Bootstrap(tb, cfg) }

func StartMaster(tb testing.TB, args ...string) *Master {
	tb.Helper()
	return rig.StartMaster(tb, args...)
}

func StartRedis(tb testing.TB, args ...string) *Master {
	tb.Helper()
	return rig.StartRedis(tb, args...)
}

func StartMasters(tb testing.TB, n int) []*Master { tb.Helper(); return rig.StartMasters(tb, n) }

func NewLink(tb testing.TB, to string) *Link { tb.Helper(); return rig.NewLink(tb, to) }

func overFive(masters []*Master) Config { return rig.Over(masters) }

func program(tb testing.TB, name string) string { tb.Helper(); return rig.Program(tb, name) }

func eventually(tb testing.TB, what string, cond func() (bool, string)) {
	tb.Helper()
	rig.Eventually(tb, what, cond)
}
