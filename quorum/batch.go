package quorum

import (
	"errors"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// batch is the tasks that go to a master in one write, with the mark and the
// clock behind them (M3).
type batch struct {
	tasks []*task
	// unsent are tasks that could not be sent after all.
	unsent []*task
	// under is the mark that the votes are asked for under; nil for embedded
	// masters, which have none.
	under *mark
	sent  time.Duration

	// commands and outcomes are memory for them: a lane's batches follow one
	// another and use the same.
	commands []rueidis.Completed
	outcomes []outcome
}

// clear makes room for the next batch.
func (b *batch) clear() {
	clear(b.tasks)
	clear(b.unsent)
	clear(b.commands)
	clear(b.outcomes)
	b.tasks, b.unsent, b.commands, b.outcomes = b.tasks[:0], b.unsent[:0], b.commands[:0], b.outcomes[:0]
}

// commands builds what is written for the batch.
func (c *connection) commands(b *batch) []rueidis.Completed {
	out := b.commands
	for _, t := range b.tasks {
		out = append(out, c.command(t))
	}
	if b.under != nil {
		out = append(out, c.client.B().Get().Key(MarkKey).Build())
	}
	b.commands = append(out, c.client.B().Time().Build())
	return b.commands
}

func (c *connection) command(t *task) rueidis.Completed {
	switch {
	case t.kind == Acquire && c.is7 && !t.rollback:
		// Arbitrary takes all words at once, and computes no slot of a cluster.
		return c.client.B().Arbitrary("SET", t.key, t.token, "NX", "GET", "PXAT", itoa(t.expiry)).Build()
	case t.kind == Remove && t.deadline == 0:
		return c.client.B().Del().Key(t.key).Build()
	case t.kind == list:
		return c.client.B().Scan().Cursor(t.page.cursor).Count(int64(t.page.count)).Type("string").Build()
	case t.kind == dbSize:
		return c.client.B().Dbsize().Build()
	}
	if t.kind == Release && t.deadline == 0 && !t.rollback && c.loaded[releaseScript] {
		// The usual release, without the memory that the others need.
		t.via = releaseScript
		return c.client.B().Arbitrary("EVALSHA", releaseScript.sha, "1", t.key, t.token).Build()
	}
	script, args := t.call()
	if script == rollbackScript && !c.is7 {
		script = rollbackOldScript
	}
	t.via = script
	// By its SHA1 only where it is known to be loaded (V14).
	keys := t.keys()
	if c.loaded[script] {
		return c.client.B().Evalsha().Sha1(script.sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}
	return c.client.B().Eval().Script(script.text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
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

// stepArgs are the arguments of transactScript.
func (t *task) stepArgs() []string {
	args := []string{itoa(t.deadline)}
	for i := range t.att.op.steps {
		s := &t.att.op.steps[i]
		found, does, token, expiry := "0", "keep", "", "0"
		if s.there() {
			found = "1"
		}
		switch {
		case s.change == nil:
		case s.change.Delete:
			does = "delete"
		default:
			does, token = "hold", s.change.Token
			// Even where it creates, odd where it prolongs (V6).
			e := t.expiries[i]
			if s.there() {
				e++
			}
			expiry = itoa(e)
		}
		args = append(args, found, s.state.Token, does, token, expiry)
	}
	return args
}

// call is the script that carries the task out, and its arguments.
func (t *task) call() (*serverScript, []string) {
	even, odd, deadline := itoa(t.expiry), itoa(t.expiry+1), itoa(t.deadline)
	switch {
	case t.rollback:
		return rollbackScript, []string{t.token, even}
	case t.heals:
		return healScript, []string{deadline, t.token, odd}
	case t.kind == Acquire:
		return acquireScript, []string{t.token, even}
	case t.kind == AcquireOrExtend:
		return acquireOrExtendScript, []string{deadline, t.token, even, odd}
	case t.kind == Extend && t.att.op.Replace:
		return extendScript, []string{deadline, t.token, odd, t.att.op.NewToken}
	case t.kind == Extend:
		return extendScript, []string{deadline, t.token, odd}
	case t.kind == Expire:
		return expireScript, []string{deadline, odd}
	case t.kind == Store && t.att.op.IfPresent:
		return storeScript, []string{deadline, t.token, odd, "XX"}
	case t.kind == Store:
		return storeScript, []string{deadline, t.token, odd}
	case t.kind == transact:
		return transactScript, t.stepArgs()
	case t.kind == Remove:
		return removeInTimeScript, []string{deadline}
	case t.kind == Release && t.deadline != 0:
		return releaseInTimeScript, []string{deadline, t.token}
	case t.kind == Release:
		return releaseScript, []string{t.token}
	default:
		return readScript, nil
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

// outcome is what became of one task.
type outcome struct {
	ballot ballot
	// done is whether the master is known to have carried it out.
	done bool
	// code is the error's code, where it was one (V14).
	code string
}

// outcomeOf turns a master's answer into a vote. quarantined says that the
// master may have forgotten locks, so that its "absent" is none (M4).
func outcomeOf(t *task, r rueidis.RedisResult, quarantined bool) outcome {
	if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
		return errorOutcome(err)
	}
	if t.page != nil {
		return outcome{ballot: t.page.read(t.kind, r), done: true}
	}
	b := t.read(r)
	if quarantined {
		b = b.doubted(t)
	}
	return outcome{ballot: b, done: true}
}

// doubted is what the vote of a master counts that may have forgotten locks
// (M4): its "absent" is silent, and so is another token than ours, since it
// may have the memory of an earlier time. A copy found on it counts for reads
// and releases, but extends nothing: it may have come there, late, when the
// vote that another lock was given for was forgotten.
func (b ballot) doubted(t *task) ballot {
	switch {
	case b.vote == absent:
		b.vote, b.lost = silent, true
	case b.vote == refused && (t.kind == Extend || t.kind == Release):
		b = ballot{vote: silent}
	case b.vote == prolonged:
		b = ballot{vote: silent}
	case b.vote == found:
		b.doubtful = true
	}
	return b
}

// errorOutcome is V14: WRONGTYPE is refused, every other error is silent.
func errorOutcome(err error) outcome {
	var re *rueidis.RedisError
	if !errors.As(err, &re) {
		return outcome{ballot: ballot{vote: silent}}
	}
	code, _, _ := strings.Cut(re.Error(), " ")
	// A script of Redis 6.2 puts its own words before the error's.
	if code == "WRONGTYPE" || strings.Contains(re.Error(), "WRONGTYPE Operation") {
		return outcome{ballot: ballot{vote: refused, foreign: true}, done: true, code: "WRONGTYPE"}
	}
	return outcome{ballot: ballot{vote: silent}, code: code}
}

// read reads a good answer.
func (t *task) read(r rueidis.RedisResult) ballot {
	msg, _ := r.ToMessage()
	switch {
	case t.kind == Read && !t.rollback:
		return readBallot(msg)
	case t.kind == Remove:
		if n, _ := msg.AsInt64(); n > 0 {
			return ballot{vote: released}
		}
		return ballot{vote: absent}
	case msg.IsNil():
		return ballot{vote: created} // SET NX GET that has set
	case msg.IsString():
		token, _ := msg.ToString()
		return ballot{vote: refused, token: token}
	}
	n, err := msg.AsInt64()
	switch {
	case err != nil || n < 0:
		return ballot{vote: silent}
	case n == 0:
		return ballot{vote: absent}
	case n == 2:
		return ballot{vote: prolonged}
	case t.kind == Release:
		return ballot{vote: released}
	default:
		return ballot{vote: created}
	}
}

// readBallot reads {token or nil, remaining milliseconds}.
func readBallot(msg rueidis.RedisMessage) ballot {
	pair, err := msg.ToArray()
	if err != nil || len(pair) != 2 {
		return ballot{vote: silent}
	}
	if pair[0].IsNil() {
		return ballot{vote: absent}
	}
	token, err := pair[0].ToString()
	left, err2 := pair[1].AsInt64()
	if err != nil || err2 != nil {
		return ballot{vote: silent}
	}
	if left < 0 {
		return ballot{vote: found, token: token, left: noExpiry}
	}
	return ballot{vote: found, token: token, left: time.Duration(left) * time.Millisecond}
}

// noExpiry stands for the remaining time of a key without one, which
// redlockd never wrote.
const noExpiry = 1<<63 - 1

// readTime reads the answer to TIME, in microseconds.
func readTime(r rueidis.RedisResult) (int64, error) {
	parts, err := r.AsStrSlice()
	if err != nil {
		return 0, err
	}
	if len(parts) != 2 {
		return 0, errors.New("TIME was not answered by two numbers")
	}
	seconds, err := parseInt(parts[0])
	if err != nil {
		return 0, err
	}
	micros, err := parseInt(parts[1])
	if err != nil {
		return 0, err
	}
	return seconds*1e6 + micros, nil
}
