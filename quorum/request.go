package quorum

import (
	"strconv"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
)

// command is what asks a master for a task.
func (c *connection) command(t *task) rueidis.Completed {
	switch {
	case t.kind == Acquire && c.is7 && !t.rollback:
		// Arbitrary takes all words at once, and computes no slot of a cluster.
		return c.client.B().Arbitrary("SET", t.key, t.token, "NX", "GET", "PXAT", itoa(t.expiry)).Build()
	case t.kind == listKeys:
		return c.client.B().Scan().Cursor(t.page.cursor).Count(int64(t.page.count)).Type("string").Build()
	case t.kind == dbSize:
		return c.client.B().Dbsize().Build()
	}
	if t.kind == Release && t.deadline == 0 && !t.rollback && t.limit().any == 0 && c.loaded[scripts.Release] {
		// The usual release, without the memory that the others need.
		t.via = scripts.Release
		return c.client.B().Arbitrary("EVALSHA", scripts.Release.SHA, "1", t.key, t.token).Build()
	}
	script, args := t.call()
	if script.Old != nil && !c.is7 {
		script = script.Old
	}
	t.via = script
	// By its SHA1 only where it is known to be loaded (V14).
	keys := t.keys()
	if c.loaded[script] {
		return c.client.B().Evalsha().Sha1(script.SHA).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}
	return c.client.B().Eval().Script(script.Text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

// keys are the keys of the task.
func (t *task) keys() []string {
	if t.kind != transact || t.rollback {
		return []string{t.key}
	}
	steps := t.att.op.steps
	out := make([]string, len(steps))
	for i := range steps {
		out[i] = steps[i].key
	}
	return out
}

// stepArgs are the arguments of scripts.Transact.
func (t *task) stepArgs() []string {
	args := []string{itoa(t.deadline)}
	for i := range t.att.op.steps {
		s := &t.att.op.steps[i]
		exists, does, token, expiry := "0", "keep", "", "0"
		if s.there() {
			exists = "1"
		}
		switch {
		case s.change == nil:
		case s.change.Delete:
			does = "delete"
		default:
			does, token = "hold", s.change.Token
			expiry = itoa(t.expiries[i])
		}
		args = append(args, exists, s.state.Token, does, token, expiry)
	}
	return args
}

// call is the script that carries the task out, and its arguments.
func (t *task) call() (*scripts.Script, []string) {
	creates, prolongs, deadline, limit := itoa(t.expiry), itoa(t.prolongs), itoa(t.deadline), itoa(t.limit().any)
	switch {
	case t.rollback:
		return scripts.Rollback, []string{t.token, creates}
	case t.clears:
		return scripts.Clear, []string{t.token, limit}
	case t.from != nil:
		return scripts.Change, append([]string{deadline, t.token, prolongs}, t.from...)
	case t.heals:
		return scripts.Heal, []string{deadline, t.token, prolongs}
	case t.kind == Acquire:
		return scripts.Acquire, []string{t.token, creates}
	case t.kind == AcquireOrExtend && t.att.shortens:
		return scripts.AcquireOrShorten, []string{deadline, t.token, prolongs, creates, limit}
	case t.kind == AcquireOrExtend:
		return scripts.AcquireOrExtend, []string{deadline, t.token, prolongs, creates, limit}
	case t.kind == Extend && t.att.op.renews != nil:
		return scripts.Renew, []string{deadline, t.token, prolongs, itoa(t.was), creates}
	case t.kind == Extend && t.att.op.Replace:
		return scripts.Shorten, []string{deadline, t.token, prolongs, limit, t.att.op.NewToken}
	case t.kind == Extend && t.att.shortens:
		return scripts.Shorten, []string{deadline, t.token, prolongs, limit}
	case t.kind == Extend:
		return scripts.Extend, []string{deadline, t.token, prolongs, limit}
	case t.kind == Expire:
		return scripts.Expire, []string{deadline, prolongs, limit, t.limit().token, itoa(t.limit().told)}
	case t.kind == Store && t.att.op.IfPresent:
		return scripts.StoreOver, []string{deadline, t.token, prolongs, limit, t.limit().token, itoa(t.limit().told)}
	case t.kind == Store:
		return scripts.Store, []string{deadline, t.token, prolongs}
	case t.kind == transact:
		return scripts.Transact, t.stepArgs()
	case t.kind == Remove:
		return scripts.RemoveInTime, []string{deadline, limit, t.limit().token, itoa(t.limit().told)}
	case t.kind == Release && t.deadline != 0:
		return scripts.ReleaseInTime, []string{deadline, t.token, limit}
	case t.kind == Release && t.limit().any != 0:
		return scripts.ReleaseOver, []string{t.token, limit}
	case t.kind == Release:
		return scripts.Release, []string{t.token}
	default:
		return scripts.Read, nil
	}
}

// learn notes, when the batch has been answered, which scripts are loaded.
func (c *connection) learn(t *task, o outcome) {
	switch {
	case t.via == nil:
	case o.code == "NOSCRIPT":
		delete(c.loaded, t.via)
	case o.done:
		c.loaded[t.via] = true
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
