package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// prolongAll gives the keys that hold the token a new TTL.
func prolongAll(token string, ttl time.Duration, keys ...string) Op {
	return Op{Kind: DecideAll, Keys: keys, DecideAll: func(states []State) []Change {
		var out []Change
		for i, s := range states {
			if s.Found && s.Token == token {
				out = append(out, Change{Key: keys[i], Token: token, TTL: ttl})
			}
		}
		return out
	}}
}

// TestV6UndoSparesWhatWasProlonged checks that the rollback of an attempt spares copies
// that were prolonged since, by any operation and in the same millisecond (V6).
func TestV6UndoSparesWhatWasProlonged(t *testing.T) {
	const ttl = 10 * time.Second
	for name, prolong := range map[string]func(key string) Op{
		"extend": func(key string) Op { return Op{Kind: Extend, Key: key, Token: "t", TTL: ttl} },
		"replace": func(key string) Op {
			return Op{Kind: Extend, Key: key, Token: "t", Replace: true, NewToken: "t", TTL: ttl}
		},
		"or extend": func(key string) Op { return Op{Kind: AcquireOrExtend, Key: key, Token: "t", TTL: ttl} },
		"expire":    func(key string) Op { return Op{Kind: Expire, Key: key, TTL: ttl} },
		"store":     func(key string) Op { return Op{Kind: Store, Key: key, Token: "t", TTL: ttl} },
		"store XX":  func(key string) Op { return Op{Kind: Store, Key: key, Token: "t", IfPresent: true, TTL: ttl} },
		"several":   func(key string) Op { return prolongAll("t", ttl, key) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("warm", "t", ttl)), Won)
				freed := 0
				for round := range 60 {
					key := fmt.Sprint("k", round)
					o := c.want(do(c.q, acquire(key, "t", ttl)), Won)
					c.want(do(c.q, prolong(key)), Won)
					synctest.Wait()
					o.Undo() // as if its session had gone
					synctest.Wait()
					if n := c.copies(key, "t"); n != 3 {
						freed++
					}
				}
				if freed > 0 {
					t.Errorf("the rollback freed what was prolonged in %d of 60 rounds", freed)
				}
			})
		})
	}
}

// TestV6RollbackSparesWhatSeveralProlonged checks that a lost attempt rolls nothing back
// that an operation on several keys has prolonged in the same millisecond, where the
// attempt came too late to act (V6).
func TestV6RollbackSparesWhatSeveralProlonged(t *testing.T) {
	const ttl = 10 * time.Second
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", ttl)), Won)
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
		c.want(do(c.q, prolongAll("t", ttl, "k", "warm")), Won)
		synctest.Wait()
		for _, f := range c.masters[1:] {
			f.away(2 * c.cfg.Timeout)
		}
		c.want(do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: ttl}), Undecided)
		time.Sleep(time.Second)
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d of 3 copies are left", n)
		}
	})
}

// TestV6UndoSparesWhatWasHealed checks that the rollback of an attempt also spares a
// copy that an extend has given back to a master (V6, V9).
func TestV6UndoSparesWhatWasHealed(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		f, healed, freed := c.masters[0], 0, 0
		for round := range 60 {
			key := fmt.Sprint("k", round)
			o := c.want(do(c.q, acquire(key, "t", 10*time.Second)), Won)
			synctest.Wait()
			f.Del(key)
			c.slow(time.Millisecond, 1, 2)
			c.want(do(c.q, Op{Kind: Extend, Key: key, Token: "t", TTL: 10 * time.Second}), Won)
			c.slow(0, 1, 2)
			time.Sleep(10 * time.Millisecond)
			if f.holds(key) == "t" {
				healed++
			}
			o.Undo()
			synctest.Wait()
			if f.holds(key) != "t" {
				freed++
			}
		}
		if healed != 60 || freed > 0 {
			t.Errorf("of 60 locks %d were healed, and the rollback freed %d of them", healed, freed)
		}
	})
}

// asked returns how many scripts for a key a master got, after the first skip commands.
func (f *fakeMaster) asked(key string, skip int) int {
	n := 0
	for _, line := range f.commands(skip) {
		if strings.HasPrefix(line, "EVAL") && strings.Contains(line, " "+key+" ") {
			n++
		}
	}
	return n
}

// TestV6NoRollbackWhereItWasRefused checks that a master that refused gets no rollback:
// the copy there is not of this attempt, whatever its token (V6).
func TestV6NoRollbackWhereItWasRefused(t *testing.T) {
	for name, r := range map[string]struct {
		busy string // the answer of the other masters
		want Verdict
	}{"held": {"", Held}, "undecided": {"BUSY Redis is busy running a script.", Undecided}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
				synctest.Wait()
				c.slow(time.Millisecond, 1, 2)
				c.masters[1].refuse(r.busy)
				c.masters[2].refuse(r.busy)
				f := c.masters[0]
				before := len(f.commands(0))
				c.want(do(c.q, acquire("k", "t", 10*time.Second)), r.want)
				time.Sleep(100 * time.Millisecond)
				if n := f.asked("k", before); n != 1 {
					t.Errorf("a master that refused was sent %d scripts, want the acquire alone", n)
				}
			})
		})
	}
}

// TestV6RepeatedRollbackSparesTheNextAttempt checks that an attempt does not get the
// name of one whose rollback is still to be repeated to a master (V6).
func TestV6RepeatedRollbackSparesTheNextAttempt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		busy := func(text string) {
			synctest.Wait()
			c.masters[0].refuse(text)
			c.masters[1].refuse(text)
		}
		for round := range 60 {
			key := fmt.Sprint("k", round)
			busy("BUSY Redis is busy running a script.")
			c.want(do(c.q, acquire(key, "t", 10*time.Second)), Undecided)
			busy("")
			c.want(do(c.q, acquire(key, "t", 10*time.Second)), Won)
		}
		time.Sleep(3 * time.Second)
		freed := 0
		for round := range 60 {
			if c.copies(fmt.Sprint("k", round), "t") != 3 {
				freed++
			}
		}
		if freed > 0 {
			t.Errorf("a rollback that was repeated freed the next attempt's lock in %d of 60 rounds", freed)
		}
	})
}
