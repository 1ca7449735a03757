package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum"
)

// states are masters whose states the test changes.
type states struct {
	mu  sync.Mutex
	now quorum.Status
}

func (s *states) Ready() bool { return s.Status().Ready }

func (s *states) Status() quorum.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *states) set(now quorum.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

var (
	allVote = quorum.Status{Ready: true, Voting: 3, Quorum: 2, Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting}, {Name: "b", State: quorum.Voting}, {Name: "c", State: quorum.Voting}}}
	twoDown = quorum.Status{Voting: 1, Quorum: 2, Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting}, {Name: "b", State: quorum.Down, Reason: "EOF"}, {Name: "c", State: quorum.Frozen, Reason: "does not answer"}}}
	twoNew = quorum.Status{Voting: 1, Quorum: 2, Hint: "do this", Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting}, {Name: "b", State: quorum.Fresh, Reason: "new", Wait: time.Minute}, {Name: "c", State: quorum.Voting}}}
	requiredDown = quorum.Status{Voting: 2, Quorum: 2, Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting}, {Name: "b", State: quorum.Voting}, {Name: "c", State: quorum.Down, Reason: "EOF", Required: true}}}
	pausing = quorum.Status{Voting: 0, Quorum: 2, Masters: allVote.Masters}
)

const (
	lineGone     = "[ERROR] no majority of the masters votes, no lock can be taken: voting=1 needed=2 "
	lineTwoDown  = lineGone + `masters="b down: EOF; c frozen: does not answer"`
	lineTwoNew   = lineGone + `masters="b new, waiting 1m0s" hint="do this"`
	lineRequired = `[ERROR] the required master does not vote, no lock can be taken: voting=2 needed=2 masters="c (required) down: EOF"`
	linePausing  = `[ERROR] no majority of the masters votes, no lock can be taken: voting=0 needed=2 masters="the clocks of a majority jumped together, or this redlockd stood still"`
	lineReady    = "[INFO]  ready: voting=3 masters=3"
	lineAgain    = "[INFO]  a majority of the masters votes again: voting=3 masters=3 after="
)

// TestMajorityIsALineOfTheLog: the log says when no lock can be taken and why, and when locks
// can be taken again and how long that was; once each, however long it is.
func TestMajorityIsALineOfTheLog(t *testing.T) {
	type step struct {
		is    quorum.Status
		lasts time.Duration
	}
	tests := []struct {
		name  string
		steps []step
		want  []string
	}{
		{"a good start", []step{{allVote, time.Hour}}, []string{lineReady}},
		{"no majority at the start", []step{{twoDown, time.Minute}, {allVote, time.Hour}},
			[]string{lineTwoDown, lineReady + " after=1m0.1s"}},
		{"lost for an hour", []step{{allVote, time.Minute}, {twoDown, time.Hour}, {allVote, time.Hour}},
			[]string{lineReady, lineTwoDown, lineAgain + "1h0m0s"}},
		{"lost twice", []step{{allVote, time.Minute}, {twoDown, 3 * time.Second}, {allVote, time.Hour}, {twoDown, 2 * time.Second}, {allVote, time.Hour}},
			[]string{lineReady, lineTwoDown, lineAgain + "3s", lineTwoDown, lineAgain + "2s"}},
		{"gone for a moment", []step{{allVote, time.Minute}, {twoDown, 900 * time.Millisecond}, {allVote, time.Minute},
			{twoDown, 900 * time.Millisecond}, {allVote, time.Minute}}, []string{lineReady}},
		{"there is something to do, by and by", []step{{allVote, time.Minute}, {twoDown, time.Minute}, {twoNew, time.Minute}, {twoDown, time.Minute},
			{twoNew, time.Minute}, {allVote, time.Hour}}, []string{lineReady, lineTwoDown, lineTwoNew, lineAgain + "4m0s"}},
		{"the required master", []step{{allVote, time.Minute}, {requiredDown, time.Minute}, {allVote, time.Hour}},
			[]string{lineReady, lineRequired, lineAgain + "1m0s"}},
		{"redlockd stood still", []step{{allVote, time.Minute}, {pausing, time.Minute}, {allVote, time.Hour}},
			[]string{lineReady, linePausing, lineAgain + "1m0s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				m := majority{log: hclog.New(&hclog.LoggerOptions{Output: &out, DisableTime: true}), since: time.Now()}
				masters := &states{now: test.steps[0].is}
				ctx, cancel := context.WithCancel(t.Context())
				go m.follow(ctx, masters)
				time.Sleep(majorityEvery / 2) // nothing changes at the moment of a look
				for _, s := range test.steps {
					masters.set(s.is)
					time.Sleep(s.lasts)
				}
				cancel()
				synctest.Wait()
				if got := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(got, test.want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		})
	}
}
