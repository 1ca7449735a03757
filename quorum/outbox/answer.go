package outbox

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Result is what became of one task.
type Result struct {
	// Ballot is the master's vote.
	Ballot vote.Ballot
	// Done reports whether the master is known to have carried the task out, Late
	// whether it is known to have done nothing because the deadline had passed (V6).
	Done, Late bool
	// Code is the first word of the error that the master answered (V14), or empty.
	Code string
}

// Read returns what became of each task, by the answers to Commands. The votes count when they
// are weighed. The results are valid until Clear.
func (b *Batch) Read(d *Dialect, answers []rueidis.RedisResult) []Result {
	b.results = slices.Grow(b.results, len(b.Tasks))
	for i, n := range b.carry {
		msg, err := answers[i].ToMessage()
		if n == 1 {
			b.results = append(b.results, read(b.Tasks[len(b.results)], msg, err))
			continue
		}
		items, err := d.unbundle(n, msg, err)
		for _, item := range items {
			b.results = append(b.results, read(b.Tasks[len(b.results)], item, cmp.Or(err, item.Error())))
		}
	}
	for i, t := range b.Tasks {
		d.learn(t, &b.results[i])
	}
	return b.results
}

// Weigh makes the ballot a vote of this weight, which tells what a copy that was met says of its
// TTL at this reading of the master's clock, in milliseconds, shortly after it carried the task
// out. A lock that is over is absent for who releases it, though it has gone by that (V15). By a
// clock that may have stepped nothing is over (M5).
func (r *Result) Weigh(t *Task, w vote.Weight, reading int64) {
	b := r.Ballot
	b.Over = w != vote.NoAbsence && b.Tail.Over(reading)
	switch {
	case b.Vote == vote.Found && !b.Tail.Bare():
		b.Left = time.Duration(b.Tail.End-reading) * time.Millisecond
	case b.Vote == vote.Released && b.Over:
		b.Vote = vote.Absent
	}
	r.Ballot = w.Of(b, t.Kind)
}

func read(t *Task, msg rueidis.RedisMessage, err error) Result {
	if err != nil && !rueidis.IsRedisNil(err) {
		return errorResult(err)
	}
	if t.Page != nil {
		return Result{Ballot: t.Page.read(msg), Done: true}
	}
	b := t.read(msg)
	late := b.Vote == vote.Silent && msg.IsInt64() // tooLate is the only integer that is no vote
	return Result{Ballot: b, Done: !late, Late: late}
}

// errorResult is V14: WRONGTYPE is a refusal, every other error is silent.
func errorResult(err error) Result {
	var re *rueidis.RedisError
	if !errors.As(err, &re) {
		return Result{Ballot: vote.Ballot{Vote: vote.Silent}}
	}
	code, _, _ := strings.Cut(TrimScriptPrefix(re.Error()), " ")
	// Embedded masters put other words before this text.
	if code == "WRONGTYPE" || strings.Contains(re.Error(), "WRONGTYPE Operation") {
		return Result{Ballot: vote.Ballot{Vote: vote.Refused, Foreign: true}, Done: true, Code: "WRONGTYPE"}
	}
	if strings.Contains(re.Error(), "The user executing the script can't") {
		code = "NOPERM" // Redis 6.2 and 7.0 leave it out in a script
	}
	return Result{Ballot: vote.Ballot{Vote: vote.Silent}, Code: code}
}

// TrimScriptPrefix returns an error's text without the prefix that Redis 6.2 adds when
// the error occurred in a script: "Error running script (call to f_1a2b):
// @user_script:3: @user_script: 3: -OOM command not allowed ...". Any other text is
// returned as it is.
func TrimScriptPrefix(text string) string {
	const script = "@user_script:"
	at := strings.LastIndex(text, script)
	if at < 0 || !strings.HasPrefix(text, "Error running script") {
		return text
	}
	_, text, _ = strings.Cut(text[at+len(script):], ": ") // the line number
	return strings.TrimPrefix(text, "-")
}

// The integers that scripts answer, see [scripts.Change].
const (
	anotherLock = -2
	tooLate     = -1
	absent      = 0
)

// read turns an answer that is no error into a ballot.
func (t *Task) read(msg rueidis.RedisMessage) vote.Ballot {
	switch {
	case t.Kind == vote.Read:
		return readBallot(msg)
	case msg.IsNil():
		return vote.Ballot{Vote: vote.Created} // SET NX GET that stored the token
	case msg.IsArray():
		return t.done(msg)
	case msg.IsString():
		value, _ := msg.ToString()
		return t.met(value)
	}
	n, err := msg.AsInt64()
	switch {
	case err != nil || n == tooLate:
		return vote.Ballot{Vote: vote.Silent}
	case n == anotherLock:
		return vote.Ballot{Vote: vote.Refused, Token: t.Effects[0].Token}
	case n == absent:
		return vote.Ballot{Vote: vote.Absent}
	default:
		return vote.Ballot{Vote: vote.Created}
	}
}

// met returns the ballot of a task that has met a copy with this value: it refuses all but a
// plain release of its token.
func (t *Task) met(value string) vote.Ballot {
	if t.Kind == vote.Acquire {
		return vote.Ballot{Vote: vote.Refused, Token: tail.Token(value)}
	}
	token, its := tail.Split(value)
	b := vote.Ballot{Vote: vote.Refused, Token: token, Tail: its}
	if t.plain() && token == t.Effects[0].Token {
		b.Vote = vote.Released
	}
	return b
}

// done returns the ballot of a task that scripts.Change has carried out, which tells what the keys
// had.
func (t *Task) done(msg rueidis.RedisMessage) vote.Ballot {
	had, _ := msg.ToArray()
	if t.Kind == vote.Transact && !t.MustDeliver {
		return vote.Ballot{Vote: vote.Created, Were: new(tailsOf(had, len(t.Effects)))}
	}
	b := vote.Ballot{Vote: vote.Prolonged, Tail: tailsOf(had, 1)[0]}
	there := len(had) > 0 && !had[0].IsNil()
	switch deletes := t.Effects[0].Does == Deletes; {
	case deletes && there:
		b.Vote = vote.Released
	case deletes:
		b.Vote = vote.Absent
	case !there:
		b.Vote = vote.Created
	case len(had) > 1:
		b.Vote = vote.Longer
	}
	return b
}

// tailsOf returns the tails of the n copies that a script has met.
func tailsOf(values []rueidis.RedisMessage, n int) []tail.Tail {
	out := make([]tail.Tail, n)
	for i := range min(n, len(values)) {
		if v, err := values[i].ToString(); err == nil {
			_, out[i] = tail.Split(v)
		}
	}
	return out
}

// readBallot turns the answer {value or nil, remaining milliseconds} into a ballot.
func readBallot(msg rueidis.RedisMessage) vote.Ballot {
	pair, err := msg.ToArray()
	if err != nil || len(pair) != 2 {
		return vote.Ballot{Vote: vote.Silent}
	}
	if pair[0].IsNil() {
		return vote.Ballot{Vote: vote.Absent}
	}
	value, err := pair[0].ToString()
	millis, err2 := pair[1].AsInt64()
	if err != nil || err2 != nil {
		return vote.Ballot{Vote: vote.Silent}
	}
	token, its := tail.Split(value)
	left := time.Duration(NoExpiry)
	if millis >= 0 {
		left = time.Duration(millis) * time.Millisecond
	}
	return vote.Ballot{Vote: vote.Found, Token: token, Tail: its, Left: left, Hold: left}
}

// NoExpiry is the Left and the Hold of a ballot for a key without an expiry, which
// redlockd never writes.
const NoExpiry = 1<<63 - 1

// ReadTime parses the answer to TIME: microseconds since 1970, and 0 with an error.
func ReadTime(r rueidis.RedisResult) (int64, error) {
	parts, err := r.ToArray()
	if err == nil && len(parts) != 2 {
		err = errors.New("TIME was not answered by two numbers")
	}
	if err != nil {
		return 0, err
	}
	seconds, err := parts[0].AsInt64()
	micros, err2 := parts[1].AsInt64()
	if err = cmp.Or(err, err2); err != nil {
		return 0, err
	}
	return seconds*1e6 + micros, nil
}
