package outbox

import (
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Dialect builds the commands for a master on one connection. Client and Is7 are set
// before the first batch; only the goroutine that sends the batches uses the rest.
type Dialect struct {
	// Client builds the commands.
	Client rueidis.Client
	// Is7 reports whether the master is 7.0 or newer, and so knows SET NX GET.
	Is7 bool
	// loaded are the scripts known to be loaded on this connection (V14).
	loaded map[*scripts.Script]bool
	// Singly reports whether tasks are sent one by one instead of in bundles, because
	// the master has rejected a bundle (bundle.go).
	Singly bool
	words  words
}

// NewDialect returns the dialect of a new connection, on which no script is known to be
// loaded.
func NewDialect() Dialect {
	return Dialect{loaded: map[*scripts.Script]bool{}, words: words{seen: map[string]bool{}}}
}

// command builds the command for a task.
func (d *Dialect) command(t *Task) rueidis.Completed {
	switch {
	case t.Then != Votes:
	case t.Kind == vote.Acquire && d.Is7:
		// Arbitrary takes all words at once, and computes no slot of a cluster.
		return d.Client.B().Arbitrary("SET", t.Key, t.Tail.Of(t.Token), "NX", "GET", "PXAT", itoa(t.Expiry)).Build()
	case t.Kind == vote.ListKeys:
		return d.Client.B().Scan().Cursor(t.Page.Cursor).Count(int64(t.Page.Count)).Type("string").Build()
	case t.Kind == vote.DBSize:
		return d.Client.B().Dbsize().Build()
	case t.Kind == vote.Release && t.plain() && d.loaded[scripts.Release]:
		// The usual release, without the memory that the others need.
		t.via = scripts.Release
		return d.Client.B().Arbitrary("EVALSHA", scripts.Release.SHA, "1", t.Key, tail.Stem(t.Token)).Build()
	}
	script, args := t.call()
	t.via = script
	// By its SHA1 only where it is known to be loaded (V14).
	keys := t.keys()
	if d.loaded[script] {
		return d.Client.B().Evalsha().Sha1(script.SHA).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}
	return d.Client.B().Eval().Script(script.Text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

// call returns the script that carries the task out, and its arguments.
func (t *Task) call() (*scripts.Script, []string) {
	if t.Then != Votes {
		return t.callAfter()
	}
	stem, lock, rest := tail.Stem(t.Token), t.Tail.Lock.String(), t.Tail.Rest()
	expiry, deadline := itoa(t.Expiry), itoa(t.Deadline)
	switch t.Kind {
	case vote.Acquire:
		return scripts.Acquire, []string{t.Tail.Of(t.Token), expiry}
	case vote.AcquireOrExtend:
		return scripts.AcquireOrExtend, []string{deadline, stem, lock, rest, expiry}
	case vote.Extend:
		args := []string{deadline, stem, lock, rest, expiry, tail.Stem(t.newToken()), t.Asked.change(), t.Asked.Locks}
		switch {
		case t.Asked.Renews:
			return scripts.Renew, []string{deadline, stem, rest, expiry}
		case t.Asked.Anyway:
			return scripts.ExtendAnyway, args
		}
		return scripts.Extend, args
	case vote.Expire:
		return scripts.Expire, []string{deadline, rest, expiry}
	case vote.Store:
		if t.Asked.IfPresent {
			return scripts.StoreOver, []string{deadline, t.Tail.Of(t.Token), expiry}
		}
		return scripts.Store, []string{deadline, t.Tail.Of(t.Token), expiry}
	case vote.Transact:
		return scripts.Transact, t.stepArgs()
	case vote.Remove:
		return scripts.Remove, []string{deadline}
	case vote.Release:
		if t.plain() {
			return scripts.Release, []string{stem}
		}
		return scripts.ReleaseIf, []string{deadline, stem, t.locks()}
	default:
		return scripts.Read, nil
	}
}

// callAfter is call for what follows a verdict.
func (t *Task) callAfter() (*scripts.Script, []string) {
	expiry, deadline, rest := itoa(t.Expiry), itoa(t.Deadline), t.Tail.Rest()
	switch t.Then {
	case RollsBack:
		return scripts.Rollback, []string{t.Tail.Attempt.String() + t.Tail.Attempt.String()}
	case Heals:
		return scripts.Heal, []string{deadline, t.Tail.Of(t.Token), expiry}
	case Shortens:
		return scripts.Shorten, []string{deadline, tail.Stem(t.Token), rest, expiry}
	}
	var met strings.Builder
	for _, p := range t.Missed.Met {
		met.WriteString(p.String())
	}
	if !t.Changes() {
		return scripts.DeleteAgain, []string{met.String(), itoa(t.Missed.Before)}
	}
	change := "store"
	if t.Missed.Keeps {
		change = "keep"
	}
	return scripts.ChangeAgain, []string{deadline, met.String(), itoa(t.Missed.Before), tail.Stem(t.Token), t.Tail.Lock.String(), rest, expiry, change}
}

// change returns how an Extend changes the times of a copy, in the scripts' words.
func (a *Asked) change() string {
	switch {
	case a.Keeps:
		return "keep"
	case a.Replace && !a.Raises:
		return "exact"
	default:
		return "raise"
	}
}

// stepArgs returns the arguments of scripts.Transact.
func (t *Task) stepArgs() []string {
	args := []string{itoa(t.Deadline)}
	for i := range t.Asked.Steps {
		s, c := &t.Asked.Steps[i], &t.Copies[i]
		exists, does := "0", "none"
		if s.Exists {
			exists = "1"
		}
		switch {
		case s.Does == Deletes:
			does = "delete"
		case s.Does != Stores:
		case s.Keeps:
			does = "keep"
		case s.Raises:
			does = "raise"
		default:
			does = "hold"
		}
		args = append(args, exists, tail.Stem(s.Was), s.Locks, does, tail.Stem(s.Token), c.Tail.Lock.String(), c.Tail.Rest(), itoa(c.Expiry))
	}
	return args
}

// locks returns the locks that a release may meet, as in Asked.
func (t *Task) locks() string {
	if t.Asked == nil {
		return ""
	}
	return t.Asked.Locks
}

// newToken returns the token that the copy has after an Extend.
func (t *Task) newToken() string {
	if t.Asked.Replace {
		return t.Asked.NewToken
	}
	return t.Token
}

// Learn notes, from a task's result, which scripts are loaded on the master (V14).
func (d *Dialect) Learn(t *Task, r Result) {
	switch {
	case t.via == nil:
	case r.Code == "NOSCRIPT":
		delete(d.loaded, t.via)
	case r.Done, r.Late:
		d.loaded[t.via] = true
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
