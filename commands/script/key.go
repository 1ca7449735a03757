package script

// keyModel is one key, as a Redis server would keep it.
type keyModel struct {
	name  value // sealed or string; nil until a command names it
	found content
	now   content
	// foundMillis is what is left of the found expiry, for real runs.
	foundMillis int64
	// signal is whether the key is a list that wakes those who wait
	// (publish.go); no master has it.
	signal bool
}

// content is what a key holds; the zero value is an absent key.
type content struct {
	exists bool
	value  value // sealed, stored, string or *signalList
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

// held is GET's reply: the value, or Lua's false for null.
func (k *keyModel) held() value {
	if !k.now.exists {
		return false
	}
	return k.now.value
}

// wrote tells whether the key is not as it was found.
func (k *keyModel) wrote() bool { return k.found != k.now }
