package outbox

import (
	"strconv"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Dialect builds the commands for a master on one connection. Client and Is7 are set
// before the first batch; only the goroutine that sends the batches uses the rest.
type Dialect struct {
	// Client builds the commands.
	Client rueidis.Client
	// Is7 reports whether the master is 7.0 or newer, and so knows SET NX GET and
	// PEXPIRETIME.
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
	case t.Kind == vote.Acquire && d.Is7 && !t.Rollback:
		// Arbitrary takes all words at once, and computes no slot of a cluster.
		return d.Client.B().Arbitrary("SET", t.Key, t.Token, "NX", "GET", "PXAT", itoa(t.Expiry)).Build()
	case t.Kind == vote.ListKeys:
		return d.Client.B().Scan().Cursor(t.Page.Cursor).Count(int64(t.Page.Count)).Type("string").Build()
	case t.Kind == vote.DBSize:
		return d.Client.B().Dbsize().Build()
	}
	if t.Kind == vote.Release && t.Deadline == 0 && t.Maker == 0 && !t.Rollback && !t.Limit().Ends() && d.loaded[scripts.Release] {
		// The usual release, without the memory that the others need.
		t.via = scripts.Release
		return d.Client.B().Arbitrary("EVALSHA", scripts.Release.SHA, "1", t.Key, t.Token).Build()
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

// keys returns the keys of the task.
func (t *Task) keys() []string {
	if t.Kind != vote.Transact || t.Rollback {
		return []string{t.Key}
	}
	out := make([]string, len(t.Asked.Steps))
	for i := range out {
		out[i] = t.Asked.Steps[i].Key
	}
	return out
}

// stepArgs returns the arguments of scripts.Transact.
func (t *Task) stepArgs() []string {
	args := []string{itoa(t.Deadline)}
	for i := range t.Asked.Steps {
		s := &t.Asked.Steps[i]
		exists, does, token, expiry := "0", "keep", "", "0"
		if s.Exists {
			exists = "1"
		}
		switch s.Does {
		case Deletes:
			does = "delete"
		case Stores:
			switch does, token, expiry = "hold", s.Token, itoa(t.Expiries[i]); {
			case s.Keeps && s.Token != s.Was:
				does = "swap"
			case s.Keeps:
				does = "tell"
			case s.Raises:
				does = "raise"
			}
		}
		args = append(args, exists, s.Was, does, token, expiry)
	}
	return append(args, itoa(t.Longest))
}

// newToken returns the token that the copy has after a raise.
func (t *Task) newToken() string {
	if t.Asked.Replace {
		return t.Asked.NewToken
	}
	return t.Token
}

// call returns the script that carries the task out, and its arguments.
func (t *Task) call() (*scripts.Script, []string) {
	creates, prolongs, deadline, limit := itoa(t.Expiry), itoa(t.Prolongs), itoa(t.Deadline), string(t.Limit().append(nil))
	switch {
	case t.Rollback:
		return scripts.Rollback, []string{t.Token, creates}
	case t.Clears:
		return scripts.Clear, []string{t.Token, limit}
	case t.From != nil:
		return scripts.Change, append([]string{deadline, t.Token, prolongs}, t.From...)
	case t.Heals:
		return scripts.Heal, []string{deadline, t.Token, prolongs}
	case t.Kind == vote.Acquire:
		return scripts.Acquire, []string{t.Token, creates}
	case t.Kind == vote.AcquireOrExtend && t.Asked.Shortens:
		return scripts.AcquireOrShorten, t.withNames(deadline, t.Token, prolongs, creates, limit)
	case t.Kind == vote.AcquireOrExtend:
		return scripts.AcquireOrExtend, []string{deadline, t.Token, prolongs, creates, limit}
	case t.Kind == vote.Extend && t.Asked.Renews:
		return scripts.Renew, t.withNames(deadline, t.Token, prolongs, creates, itoa(t.Longest))
	case t.Kind == vote.Extend && t.Asked.Keeps && !t.Asked.Replace:
		return scripts.Tell, []string{deadline, t.Token, prolongs, limit}
	case t.Kind == vote.Extend && t.Asked.Keeps:
		return scripts.Keep, []string{deadline, t.Token, prolongs, limit, t.Asked.NewToken}
	case t.Kind == vote.Extend && t.Asked.Raises && (t.Asked.Replace || !t.Asked.Shortens):
		return scripts.Raise, []string{deadline, t.Token, prolongs, limit, t.newToken(), itoa(t.Longest)}
	case t.Kind == vote.Extend && t.Asked.Replace:
		return scripts.Shorten, []string{deadline, t.Token, prolongs, limit, t.Asked.NewToken}
	case t.Kind == vote.Extend && t.Asked.Shortens:
		return scripts.Shorten, []string{deadline, t.Token, prolongs, limit}
	case t.Kind == vote.Extend:
		return scripts.Extend, []string{deadline, t.Token, prolongs, limit}
	case t.Kind == vote.Expire:
		return scripts.Expire, []string{deadline, prolongs, limit, t.Limit().Token}
	case t.Kind == vote.Store && t.Asked.IfPresent:
		return scripts.StoreOver, []string{deadline, t.Token, prolongs, limit, t.Limit().Token}
	case t.Kind == vote.Store:
		return scripts.Store, []string{deadline, t.Token, prolongs}
	case t.Kind == vote.Transact:
		return scripts.Transact, t.stepArgs()
	case t.Kind == vote.Remove:
		return scripts.RemoveInTime, []string{deadline, limit, t.Limit().Token}
	case t.Kind == vote.Release && t.Maker != 0:
		return scripts.ReleaseMade, []string{t.Token, itoa(t.Maker)}
	case t.Kind == vote.Release && t.Deadline != 0:
		return scripts.ReleaseInTime, []string{deadline, t.Token, limit}
	case t.Kind == vote.Release && t.Limit().Ends():
		return scripts.ReleaseOver, []string{t.Token, limit}
	case t.Kind == vote.Release:
		return scripts.Release, []string{t.Token}
	default:
		return scripts.Read, nil
	}
}

// withNames returns the arguments with the names that the copy may have had.
func (t *Task) withNames(args ...string) []string {
	for _, name := range t.Was {
		args = append(args, itoa(name))
	}
	return args
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
