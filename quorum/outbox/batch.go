package outbox

import (
	"cmp"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// Batch is the tasks that go to a master in one write, followed by reads of its mark
// and clock (M3). Only the sender of its link uses it.
type Batch struct {
	// Tasks are in the order in which they are sent: Commands moves releases behind acquires of
	// other keys.
	Tasks []*Task
	// Unsent are tasks that turned out not to be sendable when the batch was made.
	Unsent []*Task
	// Under is the mark under which the votes are requested; nil for embedded masters,
	// which have none.
	Under *mark.Mark
	// Warm reports whether the clock had been watched for long enough (M5).
	Warm bool
	// Sent is when the batch was made, right before it is written, by our own clock.
	Sent time.Duration

	// commands and results are memory that the link's next batch reuses. carry is the
	// number of tasks that each command carries out: 1, or more for a bundle.
	commands []rueidis.Completed
	carry    []int
	results  []Result
}

// Clear empties the batch for the next tasks.
func (b *Batch) Clear() {
	clear(b.Tasks)
	clear(b.Unsent)
	clear(b.commands)
	clear(b.results)
	b.Tasks, b.Unsent, b.results = b.Tasks[:0], b.Unsent[:0], b.results[:0]
	b.commands, b.carry = b.commands[:0], b.carry[:0]
}

// Commands builds what is written for the batch; it is called once. It is a command for
// each task or bundle, AskMark where there is a mark, and TIME (M3).
func (d *Dialect) Commands(b *Batch) []rueidis.Completed {
	out := b.commands
	d.args.begin(b.Tasks)
	defer d.args.end()
	for rest := b.Tasks; len(rest) > 0; {
		n, bundled := d.arrange(rest)
		for _, t := range rest[:n-bundled] {
			out, b.carry = append(out, d.command(t)), append(b.carry, 1)
		}
		if bundled > 0 {
			out, b.carry = append(out, d.bundle(rest[n-bundled:n])), append(b.carry, bundled)
		}
		rest = rest[n:]
	}
	if b.Under != nil {
		out = append(out, d.AskMark())
	}
	b.commands = append(out, d.Client.B().Time().Build())
	return b.commands
}

// AskMark builds the command that reads the master's mark, and in another database than 0 its
// seal, too (M3).
func (d *Dialect) AskMark() rueidis.Completed {
	if d.DB == 0 {
		return d.Client.B().Get().Key(mark.Key).Build()
	}
	return d.Client.B().Arbitrary("EVAL", scripts.Peek.Text, "1", mark.Key).Build()
}

// ReadMark reads the answer to AskMark. What is not there is empty.
func (d *Dialect) ReadMark(r rueidis.RedisResult) (raw, seal string, err error) {
	if d.DB == 0 {
		if raw, err = r.ToString(); rueidis.IsRedisNil(err) {
			err = nil
		}
		return raw, "", err
	}
	both, err := r.AsStrSlice()
	if len(both) != 2 {
		return "", "", cmp.Or(err, errNoMark)
	}
	return both[0], both[1], nil
}

var errNoMark = errors.New("a script did not answer with a mark and a seal")

// Faults returns the last error code among the results, if any, and whether a task failed that
// must be delivered.
func (b *Batch) Faults(results []Result) (code string, failed bool) {
	for i, t := range b.Tasks {
		if r := &results[i]; !r.Done {
			code, failed = cmp.Or(r.Code, code), failed || t.MustDeliver
		}
	}
	return code, failed
}
