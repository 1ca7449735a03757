package script

import (
	"fmt"
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
)

// effect returns what a real run did to the key.
func (k *keyModel) effect() Effect {
	ttl, keeps := k.ttl(), k.now.expiry.kind == asFound
	switch {
	case !k.wrote():
		return Effect{}
	case !k.now.exists:
		return Effect{Kind: Delete}
	case k.found.exists && k.now.value == k.found.value:
		return Effect{Kind: SetTTL, TTL: ttl, Keeps: keeps}
	}
	text, isText := k.now.value.(string)
	if h, ok := k.now.value.(values.Hash); ok && !isText {
		text = string(h)
	}
	return Effect{Kind: Set, Value: text, TTL: ttl, Keeps: keeps}
}

// ttl returns the TTL that a real run left; 0 is none.
func (k *keyModel) ttl() time.Duration {
	switch k.now.expiry.kind {
	case asFound:
		return millis(k.foundMillis)
	case given:
		return millis(k.now.expiry.after.add)
	}
	return 0
}

// unfit returns why what a run has left in the key cannot be kept, or nil.
func (k *keyModel) unfit() *RefusedError {
	text, isText := k.now.value.(string)
	h, isHash := k.now.value.(values.Hash)
	did := ""
	switch {
	case k.now.value == k.found.value:
		return nil
	case isText && values.Hidden(text):
		did = "stores a string in the form in which redlockd keeps hashes in %.40q"
	case isHash && len(h.Members()) > 1:
		did = "leaves more than one field in the hash %.40q: redlockd keeps hashes of one holder, not those of read/write locks and rate limiters"
	default:
		return nil
	}
	return &RefusedError{Did: lua.OneLine(fmt.Sprintf(did, k.name))}
}
