package outbox

import (
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
)

// Batch is the tasks that go to a master in one write, with the mark and the
// clock behind them (M3).
type Batch struct {
	Tasks []*Task
	// Unsent are tasks that could not be sent after all.
	Unsent []*Task
	// Under is the mark that the votes are asked for under; nil for embedded
	// masters, which have none.
	Under *mark.Mark
	// Warm is whether the clock had been watched for long enough.
	Warm bool
	Sent time.Duration

	// commands, answers and results are memory for them: a link's batches
	// follow one another and use the same. carry is how many tasks each command
	// carries out; it is 1 but for bundles.
	commands []rueidis.Completed
	carry    []int
	answers  []answer
	Results  []Result
}

// Clear makes room for the next batch.
func (b *Batch) Clear() {
	clear(b.Tasks)
	clear(b.Unsent)
	clear(b.commands)
	clear(b.answers)
	clear(b.Results)
	b.Tasks, b.Unsent, b.commands, b.carry = b.Tasks[:0], b.Unsent[:0], b.commands[:0], b.carry[:0]
	b.answers, b.Results = b.answers[:0], b.Results[:0]
}

// Commands builds what is written for the batch.
func (c *Dialect) Commands(b *Batch) []rueidis.Completed {
	out := b.commands
	for i := 0; i < len(b.Tasks); {
		n := c.bundled(b.Tasks[i:])
		if n < minBundle {
			n = 1
			out = append(out, c.command(b.Tasks[i]))
		} else {
			out = append(out, c.bundle(b.Tasks[i:i+n]))
		}
		b.carry = append(b.carry, n)
		i += n
	}
	if b.Under != nil {
		out = append(out, c.Client.B().Get().Key(mark.Key).Build())
	}
	b.commands = append(out, c.Client.B().Time().Build())
	return b.commands
}
