// Command rueidislock locks by rueidis's own package of locks: the argument "caching"
// leaves client-side caching on, which is its default.
package main

import (
	"context"
	"slices"
	"time"

	"clients/steps"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	own, addr, prefix := steps.Args()
	steps.Version("github.com/redis/rueidis")
	caching := slices.Contains(own, "caching")
	// Of a pair of lockers each is a process.
	mine, err := locker(addr, caching)
	steps.Tell("connect", steps.Result(true, err))
	if err != nil {
		return
	}
	defer mine.Close()
	other, err := locker(addr, caching)
	steps.Tell("connect another", steps.Result(true, err))
	if err != nil {
		return
	}
	defer other.Close()
	lock(mine, other, prefix)
}

func locker(addr string, caching bool) (rueidislock.Locker, error) {
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: !caching},
		KeyValidity:    2 * time.Second,
		ExtendInterval: 500 * time.Millisecond,
		TryNextAfter:   200 * time.Millisecond,
	})
}

func lock(mine, other rueidislock.Locker, prefix string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	name := prefix + "rueidislock"
	held, free, err := mine.TryWithContext(ctx, name)
	steps.Tell("take", steps.Result(true, err))
	if err != nil {
		return
	}
	_, _, err = other.TryWithContext(ctx, name)
	steps.Tell("refuse", steps.Refusal(err))
	time.Sleep(3 * time.Second) // longer than the lock is valid
	_, _, err = other.TryWithContext(ctx, name)
	steps.Tell("refuse, extended", steps.Refusal(err))
	steps.Tell("held", held.Err() == nil)
	var then context.CancelFunc
	steps.Tell("wait", steps.WaitFor(
		func() error { free(); return nil },
		func() (err error) { _, then, err = other.WithContext(ctx, name); return err }))
	forced, free, err := mine.ForceWithContext(ctx, name)
	steps.Tell("force", steps.Result(forced != nil && forced.Err() == nil, err))
	then()
	_, _, err = other.TryWithContext(ctx, name)
	steps.Tell("refuse, forced", steps.Refusal(err))
	free()
	steps.Tell("many", steps.Contest(6, 5, func(worker int) (func() error, error) {
		by := []rueidislock.Locker{mine, other}[worker%2]
		_, free, err := by.WithContext(ctx, name+":many")
		return func() error { free(); return nil }, err
	}))
}
