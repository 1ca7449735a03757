package quorum

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Copy is what one master stores under a key, for operators. The token itself is not
// shown: copies with the same number have the same one.
type Copy struct {
	// Master is the master's name.
	Master string
	// State is the master's state.
	State MasterState
	// Answered reports whether the master's answer is known.
	Answered bool
	// Token is 0 if the master lacks the key, else the number of the token.
	Token int
	// Hold is what remains until the copy ends, which is longer than a client may count
	// on it (V3). It is negative for a key without expiry.
	Hold time.Duration
}

// Copies asks every master what it stores under a key, in the order of the list of
// masters. It is no vote, and waits for the slowest master, at most as long as an
// operation may stay.
func (q *Quorum) Copies(ctx context.Context, db int, key string) []Copy {
	d := q.keyspace(db)
	links := d.List().Links
	ballots := make([]vote.Ballot, len(links))
	out := make([]Copy, len(links))
	var asked sync.WaitGroup
	for i, l := range links {
		asked.Go(func() {
			ballots[i], out[i].Answered = cluster.AskOne(ctx, l, &outbox.Task{Kind: Read, Effects: []outbox.Effect{{Key: key}}})
		})
	}
	asked.Wait()
	var tokens []string
	for i, b := range ballots {
		status := links[i].Describe()
		out[i].Master, out[i].State = status.Name, status.State
		// A master in quarantine that lacks the key is silent (M4).
		out[i].Answered = out[i].Answered || b.AbsentVoid
		if b.Vote != vote.Found {
			continue
		}
		if !slices.Contains(tokens, b.Token) {
			tokens = append(tokens, b.Token)
		}
		out[i].Token, out[i].Hold = slices.Index(tokens, b.Token)+1, b.Hold
		if b.Hold == outbox.NoExpiry {
			out[i].Hold = -1
		}
	}
	return out
}

// Size returns about how many locks a database has: the number of keys that a quorum of
// the masters has at least, without the mark, but with locks that are over and not
// expired yet. The error's text is for the client.
func (q *Quorum) Size(ctx context.Context, db int) (int64, error) {
	d := q.keyspace(db)
	list := d.List()
	sizes := make([]int64, len(list.Links))
	var asked sync.WaitGroup
	for i, l := range list.Links {
		asked.Go(func() {
			t := &outbox.Task{Page: &outbox.Page{}}
			sizes[i] = -1
			if _, ok := cluster.AskOne(ctx, l, t); ok {
				sizes[i] = t.Page.Size
				if !l.Embedded {
					sizes[i]-- // the mark
				}
			}
		})
	}
	asked.Wait()
	slices.Sort(sizes)
	n := sizes[len(sizes)-list.Quorum]
	if n >= 0 {
		return n, nil
	}
	return 0, cannotList(d.Database)
}
