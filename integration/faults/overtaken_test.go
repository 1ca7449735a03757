package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// overtaken is that a release through another redlockd did not end what was still on
// its way: its copies, and those on masters that the release reaches later, may be a
// majority until it has reached these. Two that were overtaken may have a majority of
// their own. What was told NOQUORUM sends nothing more.
func (j *keyJudge) overtaken(t *taking, c *call) (out []cause) {
	for _, r := range j.calls {
		if r.kind != release || r.answer != yes || r.token != t.token || r.sent >= c.got {
			continue
		}
		until, others := j.w.calmFrom(r.redlockd, r.got), map[int]bool{}
		for _, o := range j.takings {
			if o.token == r.token && o.redlockd != r.redlockd && (o.answer == yes || o.answer == unknown && !isNoQuorum(o.call)) && o.sent < r.got && r.sent < o.over+timeout {
				others[o.redlockd] = true
			}
		}
		if len(others) > 1 {
			until = t.until
		}
		if others[t.redlockd] && c.sent <= min(until, t.until) {
			out = append(out, cause{overtaken, fmt.Sprintf("%s by %s", t.name(), r.name())})
		}
	}
	return out
}

// TestReleaseOvertakes is what docs/safety.md says of one token at several redlockd:
// a release through one of them overtakes the last command of a renewal through
// another, and reaches two masters late itself. The three copies keep others away
// although the release was answered 1, until it has reached those two.
func TestReleaseOvertakes(t *testing.T) {
	t.Parallel()
	const key, late = "overtaken", time.Second
	c, releaser, owner := newBeside(t)
	beside := *c
	beside.links, beside.cfg.Masters = nil, nil
	for _, m := range c.masters {
		l := rig.NewLink(t, m.Addr)
		beside.links, beside.cfg.Masters = append(beside.links, l), append(beside.cfg.Masters, l.Addr)
	}
	renewer := rig.JoinRedlockd(t, beside.cfg)
	renewer.WaitVoting(c.masters...)
	ctx := context.Background()
	if ok, err := owner.Client().SetNX(ctx, key, "me", 4*time.Second).Result(); !ok {
		t.Fatal(err)
	}
	if without := rig.WaitHeld(c.masters, key, "me", time.Second); len(without) > 0 {
		t.Fatalf("it is not on %v", without)
	}
	beside.links[0].SlowTo(timeout / 2)
	for _, l := range c.links[3:] {
		l.SlowTo(late)
	}
	if n, err := renewer.Client().Eval(ctx, renewScript, []string{key}, "me", 4000).Int(); n != 1 {
		t.Fatalf("the renewal: %d %v", n, err)
	}
	released := time.Now()
	if n, err := releaser.Client().Eval(ctx, releaseScript, []string{key}, "me").Int(); n != 1 {
		t.Fatalf("the release: %d %v", n, err)
	}
	if without := rig.WaitHeld(c.masters[:1], key, "me", time.Second); len(without) > 0 {
		t.Fatalf("the renewal did not reach %v behind the release", without)
	}
	if got, err := owner.Client().Get(ctx, key).Result(); got != "me" {
		t.Errorf("with three copies a read finds %q %v", got, err)
	}
	rig.Eventually(t, "another gets it", func() (bool, string) {
		ok, err := owner.Client().SetNX(ctx, key, "another", time.Second).Result()
		return ok, fmt.Sprint(err)
	})
	// The release may have to wait for a look at a late master that is on its way, which takes as
	// long; the TTL would be over after four times that.
	if took := time.Since(released); took < late*9/10 || took > 3*late {
		t.Errorf("another got it after %v, want %v to %v", took, late, 2*late)
	}
}
