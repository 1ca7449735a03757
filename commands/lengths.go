package commands

import (
	"sync/atomic"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// limits are the greatest lengths in bytes; all Interpreters made by For share them.
type limits struct{ key, token limit }

// limit is a greatest length; 0 is none.
type limit struct{ n atomic.Int64 }

func (l *limit) over(n int) bool {
	most := l.n.Load()
	return most > 0 && int64(n) > most
}

// Limit bounds the length of keys, and of tokens that are stored; 0 is no bound, the
// default. Safe for concurrent use.
func (in *Interpreter) Limit(key, token int) {
	in.limits.key.n.Store(int64(key))
	in.limits.token.n.Store(int64(token))
}

// badKey returns the error text if a lock's key may not be used, or "".
func (in *Interpreter) badKey(key string) string {
	switch {
	case quorum.Reserved(key):
		return errMarkKey
	case in.limits.key.over(len(key)):
		return errLongKey
	}
	return ""
}

// tooLong returns the error text if a key or the token of the command is too long, or "".
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
