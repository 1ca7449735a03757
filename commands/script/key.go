package script

// keyModel is one key as a Redis server would keep it.
type keyModel struct {
	name  value // sealed or string; nil until a command names it
	found content
	now   content
	// foundMillis is the remaining time of the found expiry, for real runs.
	foundMillis int64
	// signal reports whether the key is a list that wakes waiting clients (publish.go),
	// which is on no master.
	signal bool
	// latch reports whether the key is one that only this process remembers (latch.go).
	latch bool
	// bounded reports whether the run has deleted a signal, or trimmed it to a few items, so
	// that it does not grow from call to call.
	bounded bool
}

// content is what a key holds; the zero value is an absent key.
type content struct {
	exists bool
	value  value // sealed, stored, string, values.Hash, otherKind or *signalList
	expiry expiry
}

type expiryKind uint8

const (
	never   expiryKind = iota
	asFound            // not touched by the script
	given              // after: milliseconds
)

type expiry struct {
	kind  expiryKind
	after linear
}

func (k *keyModel) remove() { k.now = content{} }

// get returns GET's reply: the value, or Lua's false for null.
func (k *keyModel) get() value {
	if !k.now.exists {
		return false
	}
	return k.now.value
}

// wrote reports whether the key is not as it was found.
func (k *keyModel) wrote() bool { return k.found != k.now }
