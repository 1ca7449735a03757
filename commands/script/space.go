package script

// maxKeys bounds the keys that one call may use.
const maxKeys = 128

// space is the database as one run sees it: the keys that it has named, where it finds
// more, and its notices.
type space struct {
	keys []*keyModel
	// newKey returns the model of a key that is named for the first time, or ends the
	// run.
	newKey  func(name value) *keyModel
	notices []sealedNotice
	// byName finds a key among many.
	byName map[value]*keyModel
	// hashes reports whether the run has called a command on hashes.
	hashes bool
	// readsLeft reports whether the run has read what is left of a TTL that it did not set.
	readsLeft bool
	// signalKeys are, in a dry run, the keys that turned out to be signals.
	signalKeys map[string]bool
	// decodes reports whether the run has decoded JSON.
	decodes bool
	// listed are the results of KEYS, by pattern.
	listed map[string][]string
	db     int
	// clock is this redlockd's wall clock in unix milliseconds, or nil.
	clock func() int64
}

// fewKeys is how many keys are found faster by looking at each.
const fewKeys = 8

// find returns the model of a key that was named before, or nil.
func (s *space) find(name value) *keyModel {
	if len(s.keys) <= fewKeys {
		for _, k := range s.keys {
			if k.name == name {
				return k
			}
		}
		return nil
	}
	if len(s.byName) < len(s.keys) {
		s.byName = make(map[value]*keyModel, 2*len(s.keys))
		for _, k := range s.keys {
			s.byName[k.name] = k
		}
	}
	return s.byName[name]
}

// onlyKey returns the space of a proof: one lock, which is the first key named, and
// signals, whose items are unknown. A script that uses several locks is not proved.
func onlyKey(found content) *space {
	s := &space{}
	s.newKey = func(name value) *keyModel {
		if len(s.keys) == 0 {
			return &keyModel{name: name, found: found, now: found}
		}
		s.distinct(name)
		return &keyModel{name: name, signal: true}
	}
	return s
}

// distinct ends the run unless a new name differs from all earlier ones in every call:
// two classes differ, a sealed and a real name may not.
func (s *space) distinct(name value) {
	class, isSealed := name.(sealed)
	for _, k := range s.keys {
		other, otherSealed := k.name.(sealed)
		switch {
		case isSealed && !otherSealed:
			panic(revealInput(class))
		case otherSealed && !isSealed:
			panic(revealInput(other))
		}
	}
}

// key returns the lock of a proof's run; without a name if the run used none.
func (s *space) key(found content) *keyModel {
	if len(s.keys) == 0 {
		return &keyModel{found: found, now: found}
	}
	return s.keys[0]
}

// wrote reports whether the run has changed a key or given a notice.
func (s *space) wrote() bool {
	for _, k := range s.keys {
		if k.wrote() {
			return true
		}
	}
	return len(s.notices) > 0
}
