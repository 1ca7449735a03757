package main

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/quorum"
)

const (
	// majorityEvery is how often redlockd looks whether a majority of the masters votes.
	majorityEvery = 100 * time.Millisecond
	// majorityPatience is how long none may vote before it is logged. Masters that are slow
	// for a moment would fill the log.
	majorityPatience = time.Second
)

// voters tells whether a majority of the masters votes; it is the quorum.
type voters interface {
	// Ready reports whether locks can be taken, see [quorum.Status].
	Ready() bool
	Status() quorum.Status
}

// majority logs when no majority of the masters votes, and when one votes again. The
// lines of the masters alone do not say when clients are refused.
type majority struct {
	log hclog.Logger
	// since is when a majority was first found missing; zero while one votes.
	since time.Time
	// told is whether it was logged that it is missing, hint what the line said that an
	// operator can do.
	told bool
	hint string
	// voted is whether a majority has voted since the start.
	voted bool
}

// announce follows the majority until ctx is over. Until the start has waited for the first
// one, nothing is wrong.
func announce(ctx context.Context, q *quorum.Quorum, log hclog.Logger) {
	m := majority{log: log, since: time.Now()}
	_ = waitReady(ctx, q)
	m.follow(ctx, q)
}

func (m *majority) follow(ctx context.Context, q voters) {
	tick := time.NewTicker(majorityEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		m.look(q, time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// look finds out whether a majority votes at now.
func (m *majority) look(q voters, now time.Time) {
	if q.Ready() {
		m.votes(q, now)
		return
	}
	if m.since.IsZero() {
		m.since = now
	}
	s := q.Status()
	if now.Sub(m.since) >= majorityPatience && !s.Ready && (!m.told || m.hint == "" && s.Hint != "") {
		m.tellMissing(s)
	}
}

// votes logs that a majority votes, if it did not before.
func (m *majority) votes(q voters, now time.Time) {
	if m.voted && m.since.IsZero() {
		return
	}
	s := q.Status()
	args := []any{"voting", s.Voting, "masters", len(s.Masters)}
	if m.told {
		args = append(args, "after", now.Sub(m.since).Round(majorityEvery).String())
	}
	switch {
	case !m.voted:
		m.log.Info("ready", args...)
	case m.told:
		m.log.Info("a majority of the masters votes again", args...)
	}
	*m = majority{log: m.log, voted: true}
}

// tellMissing logs why no lock can be taken. It is logged again once there is something that
// an operator can do.
func (m *majority) tellMissing(s quorum.Status) {
	args := []any{"voting", s.Voting, "needed", s.Quorum, "masters", admin.Reasons(s)}
	if s.Hint != "" {
		args = append(args, "hint", s.Hint)
	}
	if s.Voting < s.Quorum {
		m.log.Error("no majority of the masters votes, no lock can be taken", args...)
	} else {
		m.log.Error("the required master does not vote, no lock can be taken", args...)
	}
	m.told, m.hint = true, s.Hint
}
