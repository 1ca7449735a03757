package script

// maxKeys is how many keys one call may use.
const maxKeys = 32

// space is the database as one run sees it: the keys it has named, where it
// finds more, and the notices it has given.
type space struct {
	keys []*keyModel
	// open makes the model of a key that is named for the first time, or ends
	// the run.
	open    func(name value) *keyModel
	notices []sealedNotice
	// signalKeys are, in a dry run, the keys that turned out to be signals.
	signalKeys map[string]bool
	// listed are what KEYS finds, by its pattern.
	listed map[string][]string
	db     int
	// clock is the masters' time in unix milliseconds, or nil.
	clock func() int64
}

// onlyKey is the space of a proof: one lock, the first key that is named, and
// signals, of which nothing is known. What uses several locks is run for each
// call.
func onlyKey(found content) *space {
	s := &space{}
	s.open = func(name value) *keyModel {
		if len(s.keys) == 0 {
			return &keyModel{name: name, found: found, now: found}
		}
		s.distinct(name)
		return &keyModel{name: name, signal: true}
	}
	return s
}

// distinct sees to it that a further name is another string than those before
// for all calls: two classes differ, a sealed and a real one may not.
func (s *space) distinct(name value) {
	class, isSealed := name.(sealed)
	for _, k := range s.keys {
		other, otherSealed := k.name.(sealed)
		switch {
		case isSealed && !otherSealed:
			panic(leak(class))
		case otherSealed && !isSealed:
			panic(leak(other))
		}
	}
}

// key is the key of a proof's run; without a name if it used none.
func (s *space) key(found content) *keyModel {
	if len(s.keys) == 0 {
		return &keyModel{found: found, now: found}
	}
	return s.keys[0]
}

// wrote reports whether a run has done anything that others see.
func (s *space) wrote() bool {
	for _, k := range s.keys {
		if k.wrote() {
			return true
		}
	}
	return len(s.notices) > 0
}
