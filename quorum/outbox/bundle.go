package outbox

import (
	"errors"
	"slices"
	"strconv"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// A bundle is acquires and releases that are neighbours in a batch and go out as one
// script call, which is less for redlockd to write and to read. It costs a master less time than
// as many commands if there are more than about 14, and more if there are fewer
// (docs/performance.md). Each task has its own answer, and its own error.

// MinBundle is the least number of tasks that go as a bundle.
const MinBundle = 14

// refusesAll are the errors of a master that serves no commands for a while, which each task
// would have got without the bundle, too, or that has forgotten the script.
var refusesAll = map[string]bool{"BUSY": true, "LOADING": true, "MASTERDOWN": true, "NOSCRIPT": true}

var errNoBundle = errors.New("a script did not answer for each of its keys")

// bundled returns how many of the tasks, from the first one on, may go as one bundle:
// all of them are plain, and no key occurs twice. Masters before 7.0 know no SET NX GET, and
// get none.
func (d *Dialect) bundled(tasks []*Task) int {
	if d.Singly || !d.Is7 || len(tasks) < MinBundle {
		return 0
	}
	clear(d.words.seen)
	for i, t := range tasks {
		if !t.plain() {
			return i
		}
		if d.words.seen[t.Key()] = true; len(d.words.seen) == i {
			return i // the key occurred before
		}
	}
	return len(tasks)
}

// bundle builds the call for all of the tasks. It puts acquires before releases, which is
// harmless because no key occurs twice.
func (d *Dialect) bundle(tasks []*Task) rueidis.Completed {
	w := &d.words
	w.releases = slices.DeleteFunc(append(w.releases[:0], tasks...), func(t *Task) bool { return t.Kind == vote.Acquire })
	acquires := len(slices.DeleteFunc(tasks, func(t *Task) bool { return t.Kind != vote.Acquire }))
	copy(tasks[acquires:], w.releases)
	w.keys, w.args, w.text, w.ends = w.keys[:0], append(w.args[:0], strconv.Itoa(acquires)), w.text[:0], w.ends[:0]
	for i, t := range tasks {
		t.via = nil
		w.keys = append(w.keys, t.Key())
		if i < acquires {
			w.text = t.Copies[0].Tail.Append(append(w.text, t.Effects[0].New...))
			w.ends = append(w.ends, len(w.text))
			w.text = strconv.AppendInt(w.text, t.Copies[0].Expiry, 10)
		} else {
			w.text = append(append(w.text, t.Effects[0].Token...), tail.Magic...) // its stem
		}
		w.ends = append(w.ends, len(w.text))
	}
	text, from := string(w.text), 0
	for _, to := range w.ends {
		w.args = append(w.args, text[from:to])
		from = to
	}
	defer w.clear()
	return d.eval(scripts.Bundle, w.keys, w.args)
}

// words is memory for building a bundle, which the connection's next bundle reuses.
// seen are the keys of the tasks considered for it.
type words struct {
	seen       map[string]bool
	releases   []*Task
	keys, args []string
	// text are the arguments behind the first one after the other, which is one string instead of
	// one each, ends where each of them ends.
	text []byte
	ends []int
}

// clear drops the references to the tasks and their strings, and the memory of long tokens.
func (w *words) clear() {
	if cap(w.text) > 64<<10 {
		w.text = nil
	}
	clear(w.releases)
	clear(w.keys)
	clear(w.args)
}

// unbundle returns the answers of the n tasks of a bundle. An error of the whole call is
// the error of each task. If one task may have caused it, for instance by a key that
// redlockd has no right to, the connection sends no bundles from then on, so that no task
// fails because of its neighbours twice.
func (d *Dialect) unbundle(n int, msg rueidis.RedisMessage, err error) ([]rueidis.RedisMessage, error) {
	items, wrong := msg.ToArray()
	if err == nil {
		err = wrong
	}
	if err == nil && len(items) != n {
		err = errNoBundle
	}
	if err != nil {
		d.Singly = d.Singly || !refusesAll[errorResult(err).Code]
		items = make([]rueidis.RedisMessage, n)
	}
	d.loaded[scripts.Bundle] = err == nil
	return items, err
}
