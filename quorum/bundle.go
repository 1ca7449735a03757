package quorum

import (
	"errors"
	"strconv"

	"github.com/redis/rueidis"
)

// A bundle is acquires and releases that stand next to one another in a batch
// and go out as one script call: a master takes a quarter less time for them
// than for as many commands, and redlockd less for writing and reading them
// (docs/performance.md). Each has its own answer, and its own error.

// minBundle is how many tasks make a bundle worth its script.
const minBundle = 4

// bundleScript: of each key the token, and the even expiry of an acquire or
// nothing for a release. It answers for each what acquireScript or
// releaseScript would.
var bundleScript = newScript(`
local out = {}
for i, k in ipairs(KEYS) do
  local token, expiry, v = ARGV[2 * i - 1], ARGV[2 * i]
  if expiry ~= '' then
    v = redis.pcall('SET', k, token, 'NX', 'PXAT', expiry)
    if not v then v = redis.pcall('GET', k) elseif v.ok then v = 1 end
  else
    v = redis.pcall('GET', k)
    if v == token then v = redis.pcall('DEL', k) end
  end
  out[i] = v or 0
end
return out`)

// refusesAll are the errors of a master that serves nobody for a while: each
// task alone would have met them too.
var refusesAll = map[string]bool{"BUSY": true, "LOADING": true, "MASTERDOWN": true}

var errNoBundle = errors.New("a script did not answer for each of its keys")

// bundled is how many tasks, from the first one on, may go as one bundle.
func (c *connection) bundled(tasks []*task) int {
	if c.singly {
		return 0
	}
	for i, t := range tasks {
		if !t.plain() {
			return i
		}
	}
	return len(tasks)
}

// plain is whether the task is an acquire or a release that depends on nothing
// but the key and its token.
func (t *task) plain() bool {
	return !t.rollback && !t.heals && (t.kind == Acquire || t.kind == Release && t.deadline == 0)
}

// bundle is the call that asks for all of them, with the script's text (V14):
// one that the master has forgotten would silence them all.
func (c *connection) bundle(tasks []*task) rueidis.Completed {
	keys, args := make([]string, 0, len(tasks)), make([]string, 0, 2*len(tasks))
	for _, t := range tasks {
		t.via = nil
		expiry := ""
		if t.kind == Acquire {
			expiry = itoa(t.expiry)
		}
		keys, args = append(keys, t.key), append(args, t.token, expiry)
	}
	return c.client.B().Arbitrary("EVAL", bundleScript.text, strconv.Itoa(len(keys))).Args(keys...).Args(args...).Build()
}

// unbundle appends the answers of the n tasks of a bundle to out. An error of
// the whole call is that of each. If it may be because of one of them, for
// instance a key that redlockd has no right to, the connection carries no
// bundles from then on, so that no task depends on its neighbours twice.
func (c *connection) unbundle(out []answer, n int, msg rueidis.RedisMessage, err error) []answer {
	items, wrong := msg.ToArray()
	if err == nil {
		err = wrong
	}
	if err == nil && len(items) != n {
		err = errNoBundle
	}
	if err != nil {
		c.singly = c.singly || !refusesAll[errorOutcome(err).code]
		for range n {
			out = append(out, answer{err: err})
		}
		return out
	}
	for _, item := range items {
		out = append(out, answer{item, item.Error()})
	}
	return out
}
