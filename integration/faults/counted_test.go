package faults

import (
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A lock in a hash: the holder's name, and how often it has it. Who takes it again counts up, who
// gives it back counts down, and both give it a new TTL; the last turn deletes it.
const (
	takeTurnScript = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local n = redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return n`
	giveTurnScript = `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
local n = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if n == 0 then redis.call('DEL', KEYS[1]) return 'freed' end
redis.call('PEXPIRE', KEYS[1], ARGV[2]) return n`
)

// counter is what a client knows of the count of its own lock: what it was told last, and how many
// turns it may have given since, without an answer.
type counter struct {
	told, given int
	// end is until when the lock is its own for certain, since the last answer.
	end time.Duration
}

// counts takes a lock a few times and gives it back as often, by any redlockd.
func (c *client) counts(key, token string) {
	n, grant := &counter{}, c.b.nextGrant()
	for turn := range 2 + c.rng.IntN(6) {
		if c.b.ended() {
			return
		}
		var goesOn bool
		if turn == 0 || n.told > 0 && turn < 4 && c.rng.IntN(2) == 0 {
			goesOn = c.takesTurn(n, key, token, grant)
		} else {
			goesOn = c.givesTurn(n, key, token, grant)
		}
		if !goesOn {
			break
		}
		c.sleep(rand64(c.rng, max(time.Millisecond, (n.end-c.b.h.now())/3)))
	}
	c.sleep(rand64(c.rng, 100*time.Millisecond))
}

// takesTurn reports whether the client may go on with the lock.
func (c *client) takesTurn(n *counter, key, token string, grant int) bool {
	r := c.via(counted)
	e := &call{kind: renew, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: grant, step: +1}
	c.send(e, r, "EVAL", takeTurnScript, "1", key, token, millis(e.ttl))
	n.hears(e)
	c.b.h.add(e)
	return e.answer != no
}

// givesTurn reports whether the client may still have the lock.
func (c *client) givesTurn(n *counter, key, token string, grant int) bool {
	r := c.via(counted)
	e := &call{kind: extend, key: key, token: token, ttl: min(c.ttl(), c.most(r)), grant: grant, step: -1}
	c.send(e, r, "EVAL", giveTurnScript, "1", key, token, millis(e.ttl))
	switch last := n.told-n.given <= 1; {
	case e.answer == unknown:
		n.given++
		if freed := e.mayFree(last); freed != nil {
			c.b.h.add(freed)
			e.implied = true
		}
		c.b.h.add(e)
		return !last
	case e.answer == no || e.value == "freed":
		e.kind, e.ttl = release, 0
	}
	n.hears(e)
	c.b.h.add(e)
	return e.answer == yes && e.kind == extend
}

// mayFree returns the release that a give without a result may be: where it was of the last turn, or
// was not answered at all, since it may then be carried out after the turns that follow.
func (e *call) mayFree(last bool) *call {
	if !last && isNoQuorum(e) {
		return nil
	}
	freed := *e
	freed.kind, freed.ttl, freed.step = release, 0, 0
	return &freed
}

// TestGiveWithoutAResult: what may free a lock ends what its holder has for certain.
func TestGiveWithoutAResult(t *testing.T) {
	for _, tt := range []struct {
		value string
		last  bool
		frees bool
	}{
		{"NOQUORUM x", false, false},
		{"NOQUORUM x", true, true},
		{"i/o timeout", false, true},
		{"i/o timeout", true, true},
	} {
		e := &call{kind: extend, token: "a", ttl: time.Second, step: -1, answer: unknown, value: tt.value}
		if freed := e.mayFree(tt.last); (freed != nil) != tt.frees || freed != nil && (freed.kind != release || freed.step != 0) {
			t.Errorf("%s, last %v: %v", tt.value, tt.last, freed)
		}
	}
}

// hears notes the count that a client is told.
func (n *counter) hears(e *call) {
	if e.answer != yes {
		return
	}
	e.count, _ = strconv.Atoi(e.value) // none if it was freed
	n.told, n.end = e.count, e.sent+e.ttl
}

// TestModelOfCounts: a history is accepted if it is that of one lock with one holder and one count,
// in which each turn without an answer is counted once or not at all.
func TestModelOfCounts(t *testing.T) {
	const ms, ttl = time.Millisecond, time.Second
	turn := func(token string, step, count int, a answer) call {
		c := call{kind: renew, token: token, ttl: ttl, step: step, count: count, answer: a, value: "NOQUORUM x", sent: 20 * ms, got: 10 * ms}
		switch {
		case step < 0 && a == yes && count == 0:
			c.kind, c.ttl = release, 0
		case step < 0:
			c.kind = extend
		}
		return c
	}
	takes := func(count int) call { return turn("a", +1, count, yes) }
	gives := func(count int) call { return turn("a", -1, count, yes) }
	lostTake, lostGive := turn("a", +1, 0, unknown), turn("a", -1, 0, unknown)
	other, refused := turn("b", +1, 1, yes), turn("b", +1, 0, no)
	late := func(c call) call { c.sent = 2 * ttl; return c }
	beside := func(c call) call { c.got = 25 * ms; return c } // the next one
	for _, tt := range []struct {
		name  string
		calls []call // each with the times since the one before was sent, and since its own sending
		want  porcupine.CheckResult
	}{
		{"up and down", []call{takes(1), takes(2), refused, gives(1), gives(0), other}, porcupine.Ok},
		{"it begins with two", []call{takes(2)}, porcupine.Illegal},
		{"a turn is not counted", []call{takes(1), takes(1)}, porcupine.Illegal},
		{"a turn is counted twice", []call{takes(1), takes(3)}, porcupine.Illegal},
		{"a turn is not given back", []call{takes(1), takes(2), gives(2)}, porcupine.Illegal},
		{"two are given back at once", []call{takes(1), takes(2), gives(0)}, porcupine.Illegal},
		{"another has it before all are given back", []call{takes(1), takes(2), gives(1), other}, porcupine.Illegal},
		{"another is refused when all are given back", []call{takes(1), gives(0), refused}, porcupine.Illegal},
		{"two turns beside one another", []call{takes(1), beside(takes(3)), takes(2)}, porcupine.Ok},
		{"two turns beside one another are one", []call{takes(1), beside(takes(2)), takes(2)}, porcupine.Illegal},
		{"a turn without an answer is counted", []call{takes(1), lostTake, takes(3), gives(2)}, porcupine.Ok},
		{"it is not counted", []call{takes(1), lostTake, takes(2), gives(1)}, porcupine.Ok},
		{"it is counted later", []call{takes(1), lostTake, takes(2), takes(4)}, porcupine.Ok},
		{"it is counted twice", []call{takes(1), lostTake, takes(3), takes(5)}, porcupine.Illegal},
		{"it is counted before it was sent", []call{takes(2), lostTake}, porcupine.Illegal},
		{"another's is counted", []call{turn("b", +1, 0, unknown), takes(2)}, porcupine.Illegal},
		{"the first one is counted", []call{lostTake, takes(2)}, porcupine.Ok},
		{"the first one is counted twice", []call{lostTake, takes(3)}, porcupine.Illegal},
		{"a turn is given back without an answer", []call{takes(1), takes(2), takes(3), lostGive, gives(1), gives(0)}, porcupine.Ok},
		{"it is given back twice", []call{takes(1), takes(2), takes(3), takes(4), lostGive, gives(1)}, porcupine.Illegal},
		{"taken anew after its end", []call{takes(1), takes(2), late(takes(1)), takes(2)}, porcupine.Ok},
		{"taken anew before its end", []call{takes(1), takes(2), takes(1)}, porcupine.Illegal},
		{"a count outlives another holder", []call{takes(1), takes(2), late(other), late(takes(3))}, porcupine.Illegal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []*call
			now := time.Duration(0)
			for i, c := range tt.calls {
				now += c.sent
				c.client, c.n, c.grant, c.sent, c.got = i, i, 1+int(c.token[0]), now, now+c.got
				calls = append(calls, &c)
			}
			w := &times{}
			j := &keyJudge{w: w, calls: calls, takings: w.takings(calls), spans: spansOf(calls, w, bySending), masters: 5}
			if got := j.linearizable(); got != tt.want {
				t.Errorf("porcupine says %v, want %v", got, tt.want)
			}
		})
	}
}
