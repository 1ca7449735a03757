package commands

import (
	"sync/atomic"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// limits are the greatest lengths in bytes; all Interpreters made by For share
// them.
type limits struct{ key, token limit }

// limit is a greatest length; 0 is without one.
type limit struct{ n atomic.Int64 }

func (l *limit) over(n int) bool {
	most := l.n.Load()
	return most > 0 && int64(n) > most
}

// Limit bounds keys, and tokens that are stored; 0 is without a bound. Safe for
// concurrent use. Without it only the command's size is bounded.
func (in *Interpreter) Limit(key, token int) {
	in.limits.key.n.Store(int64(key))
	in.limits.token.n.Store(int64(token))
}

// badKey is why the key of a lock may not be used, or "".
func (in *Interpreter) badKey(key string) string {
	switch {
	case quorum.Reserved(key):
		return errMarkKey
	case in.limits.key.over(len(key)):
		return errLongKey
	}
	return ""
}

// tooLong is why the command may not be run by what it names, or "".
func (c call) tooLong() string {
	if i := c.spec.token; i > 0 && c.in.limits.token.over(len(c.args[i])) {
		return errLongToken
	}
	keys, _ := c.spec.KeysOf(c.args)
	for _, key := range keys {
		if c.in.limits.key.over(len(key)) {
			return errLongKey
		}
	}
	return ""
}

// ErrLongKey is the reply to a key that is longer than the bound.
var ErrLongKey = resp.Error(errLongKey)
