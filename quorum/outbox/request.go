package outbox

import (
	"strconv"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Dialect builds the commands for a master on one connection. Client, DB and Is7 are set
// before the first batch; only the goroutine that sends the batches uses the rest.
type Dialect struct {
	// Client builds the commands.
	Client rueidis.Client
	// DB is the database that is selected.
	DB int
	// Is7 reports whether the master is 7.0 or newer, and so knows SET NX GET.
	Is7 bool
	// loaded are the scripts known to be loaded on this connection (V14).
	loaded map[*scripts.Script]bool
	args   arguments
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
	case t.Page != nil && t.Page.Count > 0:
		return d.Client.B().Scan().Cursor(t.Page.Cursor).Count(int64(t.Page.Count)).Type("string").Build()
	case t.Page != nil:
		return d.Client.B().Dbsize().Build()
	case t.plain() && t.Kind == vote.Acquire:
		value, expiry := d.args.ofAcquire(t)
		if d.Is7 {
			return d.Client.B().Arbitrary("SET", t.Key(), value, "NX", "GET", "PXAT", expiry).Build()
		}
		t.via = scripts.Acquire
		return d.eval(t.via, []string{t.Key()}, []string{value, expiry})
	case t.plain():
		t.via = scripts.Release
		return d.eval(t.via, []string{t.Key()}, []string{d.args.ofRelease(t)})
	case t.Kind == vote.Read:
		t.via = scripts.Read
		return d.eval(t.via, t.keys(), nil)
	}
	t.via = scripts.Change
	return d.eval(t.via, t.keys(), t.changes())
}

// eval calls a script, by its SHA1 only where it is known to be loaded (V14). Arbitrary takes all
// words at once, and computes no slot of a cluster.
func (d *Dialect) eval(script *scripts.Script, keys, args []string) rueidis.Completed {
	verb, text := "EVAL", script.Text
	if d.loaded[script] {
		verb, text = "EVALSHA", script.SHA
	}
	return d.Client.B().Arbitrary(verb, text, strconv.Itoa(len(keys))).Args(keys...).Args(args...).Build()
}

// changes returns the arguments of [scripts.Change].
func (t *Task) changes() []string {
	args := append(make([]string, 0, 1+8*len(t.Effects)), itoa(t.Deadline))
	for i := range t.Effects {
		e := &t.Effects[i]
		by, stem, gives := tail.Stem(e.Token), "", Copy{}
		if e.Meets == Those {
			by = "0" // a rollback is for no copies but its own
			if t.Missed != nil {
				by = itoa(t.Missed.Before)
			}
		}
		if e.Meets != Present || e.Does != Sets { // which keeps any token
			stem = tail.Stem(e.New)
		}
		if i < len(t.Copies) {
			gives = t.Copies[i]
		}
		args = append(args, string(e.Meets), by, e.Whose, string(e.Does), stem, gives.Tail.Lock.String(), gives.Tail.Rest(), itoa(gives.Expiry))
	}
	return args
}

// plain reports whether the task is an acquire or a release that depends on nothing but
// the key and its token.
func (t *Task) plain() bool {
	return !t.MustDeliver && (t.Kind == vote.Acquire || t.Kind == vote.Release && t.Deadline == 0 && t.Effects[0].Whose == "")
}

// learn notes, from a task's result, which scripts are loaded on the master (V14).
func (d *Dialect) learn(t *Task, r *Result) {
	switch {
	case t.via == nil:
	case r.Code == "NOSCRIPT":
		delete(d.loaded, t.via)
	case r.Done, r.Late:
		d.loaded[t.via] = true
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
