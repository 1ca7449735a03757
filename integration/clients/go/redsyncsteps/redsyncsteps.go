// Package redsyncsteps is what the programs of redsync's adapters share. It
// and steps lie outside internal because older/ is a module of its own.
package redsyncsteps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clients/steps"

	"github.com/go-redsync/redsync/v4"
)

// Run takes the steps of a lock by redsync.
func Run(rs *redsync.Redsync, prefix string) {
	key := prefix + "redsync"
	// With a wide margin for the library's own deadline, 5 % of the expiry.
	long := redsync.WithExpiry(60 * time.Second)
	mine := rs.NewMutex(key, long)
	other := rs.NewMutex(key, long)
	stranger := rs.NewMutex(key, long, redsync.WithValue("stranger"))
	absent := rs.NewMutex(key+"none", long, redsync.WithValue("stranger"))

	steps.Tell("take", steps.Result(true, mine.TryLock()))
	steps.Tell("refuse", refusal(other.TryLock()))
	steps.Tell("query", steps.Result(mine.Valid()))
	steps.Tell("query wrong", both(stranger.Valid()))
	steps.Tell("extend", steps.Result(mine.Extend()))
	steps.Tell("extend wrong", both(stranger.Extend()))
	steps.Tell("extend missing", both(absent.Extend()))
	steps.Tell("release wrong", both(stranger.Unlock()))
	steps.Tell("release", steps.Result(mine.Unlock()))
	steps.Tell("release missing", both(absent.Unlock()))

	again := rs.NewMutex(key, long, redsync.WithSetNXOnExtend())
	steps.Tell("take again", steps.Result(true, again.Lock()))
	_, _ = again.Unlock()
	steps.Tell("extend takes when free", steps.Result(again.Extend()))
	steps.Tell("and then extends", steps.Result(again.Extend()))
	steps.Tell("and another not", both(rs.NewMutex(key, long, redsync.WithValue("stranger"), redsync.WithSetNXOnExtend()).Extend()))
	_, _ = again.Unlock()
	inTime(rs, key)
}

// refusal is the kind of the error, since its text may name an address.
func refusal(err error) any {
	var taken *redsync.ErrTaken
	var node *redsync.ErrNodeTaken
	switch {
	case err == nil:
		return "FAILED: no error"
	case errors.As(err, &taken), errors.As(err, &node):
		return "taken"
	default:
		return err.Error()
	}
}

func both(ok bool, err error) any {
	if err == nil {
		return ok
	}
	return fmt.Sprint(ok, ": ", refusal(err))
}

func inTime(rs *redsync.Redsync, key string) {
	brief := rs.NewMutex(key, redsync.WithExpiry(time.Second), redsync.WithTimeoutFactor(0.5))
	next := rs.NewMutex(key, redsync.WithExpiry(30*time.Second), redsync.WithTries(100))
	steps.Tell("take for a second", steps.Result(true, brief.TryLock()))
	steps.Tell("expire, before", refusal(next.TryLock()))
	steps.Tell("expire", steps.Result(true, next.Lock()))
	after := rs.NewMutex(key, redsync.WithExpiry(30*time.Second), redsync.WithTries(100))
	steps.Tell("wait", steps.WaitFor(
		func() error { _, err := next.Unlock(); return err },
		func() error { return after.Lock() }))
	ok, err := after.UnlockContext(context.Background())
	steps.Tell("release after waiting", steps.Result(ok, err))
	contest := func(opts ...redsync.Option) any {
		return steps.Contest(6, 5, func(int) (func() error, error) {
			opts := append(opts, redsync.WithExpiry(30*time.Second), redsync.WithTries(1000),
				redsync.WithRetryDelay(20*time.Millisecond))
			m := rs.NewMutex(key, opts...)
			err := m.Lock()
			return func() error { _, err := m.Unlock(); return err }, err
		})
	}
	steps.Tell("many, unique tokens", contest())
	// Equal tokens are not for redsync: a refused attempt releases its token.
}
