package commands

import (
	"maps"

	"github.com/redlockd/redlockd/commands/script"
)

// MaxSwept is how many keys one script may find by KEYS: they are changed together, all
// or none.
const MaxSwept = maxKeys

// maxPatterns bounds the patterns for which one script may call KEYS: each needs a
// listing of the masters' keys.
const maxPatterns = 4

// Sweep is a script that calls KEYS with a pattern.
type Sweep struct {
	Pattern string
	c       call
}

// sweeps returns the request of a script that needs keys to be listed first.
func sweeps(c call, asks *script.NeedsKeysError) Request {
	switch r := c.in.rights; {
	case r != nil && !r.May(MayRead):
		return forbid(NoPermCommand(c.spec.Name))
	case len(c.listed) == maxPatterns:
		return refuse(notALockScript("asks KEYS for many patterns"))
	}
	req := refuse(asks.Error())
	c.args = clones(c.args)
	req.Sweep = &Sweep{Pattern: asks.Pattern, c: c}
	return req
}

// Understand returns what the command means if these keys, MaxSwept at most, match the
// pattern. The script acts on those of them that still exist then.
func (s *Sweep) Understand(keys []string) Request {
	c := s.c
	c.listed = maps.Clone(c.listed)
	if c.listed == nil {
		c.listed = map[string][]string{}
	}
	c.listed[s.Pattern] = keys
	return c.in.understand(c)
}

// meaningWith returns what a script means, given the keys listed so far.
func meaningWith(c call, sha string, keys, args []string) (*script.Meaning, error) {
	if c.listed != nil {
		return c.in.scripts.Sweep(c.db, sha, keys, args, c.listed)
	}
	return c.in.scripts.Understand(c.db, sha, keys, args)
}
