package outbox

import (
	"errors"
	"slices"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/vote"
)

// A bundle is plain releases of a batch that go out as one script call, which costs a master less
// time than a call for each (docs/performance.md). Each has its own answer, and its own error.

// MinBundle is the least number of releases that go as a bundle.
const MinBundle = 4

var errNoBundle = errors.New("a script did not answer for each of its keys")

// arrange takes a run of tasks from the front: n of them, at least one, of which the last ones go as
// a bundle. It moves these behind the acquires, which is harmless because no key occurs twice in
// the run.
func (d *Dialect) arrange(tasks []*Task) (n, bundled int) {
	if len(tasks) < MinBundle {
		return 1, 0
	}
	w := &d.words
	clear(w.seen)
	w.releases = w.releases[:0]
	defer func() { clear(w.releases) }()
	for ; n < len(tasks) && tasks[n].plain(); n++ {
		if w.seen[tasks[n].Key()] = true; len(w.seen) == n {
			break // the key occurred before
		}
		if tasks[n].Kind == vote.Release {
			w.releases = append(w.releases, tasks[n])
		}
	}
	if bundled = len(w.releases); bundled < MinBundle {
		return max(n, 1), 0
	}
	acquires := slices.DeleteFunc(tasks[:n:n], func(t *Task) bool { return t.Kind == vote.Release })
	copy(tasks[len(acquires):n], w.releases)
	return n, bundled
}

// bundle builds the call for these releases.
func (d *Dialect) bundle(releases []*Task) rueidis.Completed {
	w := &d.words
	w.args = w.args[:0]
	for _, t := range releases {
		t.via = nil // unbundle notes whether the script is loaded
		w.args = append(w.args, t.Key())
	}
	for _, t := range releases {
		w.args = append(w.args, d.args.ofRelease(t))
	}
	defer clear(w.args)
	return d.eval(scripts.Bundle, nil, w.args)
}

// words is memory for arranging and bundling, which the connection's next batch reuses. seen and
// releases are of the run that is looked through, args those of the bundle.
type words struct {
	seen     map[string]bool
	releases []*Task
	args     []string
}

// unbundle returns the answers of the n releases of a bundle. An error of the whole call is
// that of each: it would have got it without the bundle, too.
func (d *Dialect) unbundle(n int, msg rueidis.RedisMessage, err error) ([]rueidis.RedisMessage, error) {
	items, wrong := msg.ToArray()
	if err == nil {
		err = wrong
	}
	if err == nil && len(items) != n {
		err = errNoBundle
	}
	if err != nil {
		items = make([]rueidis.RedisMessage, n)
	}
	d.loaded[scripts.Bundle] = err == nil
	return items, err
}
