package script

// maxKeys is how many keys one call may use.
const maxKeys = 32

// space is the database as one run sees it: the keys it has named, where it
// finds more, and what it has told others.
type space struct {
	keys []*keyModel
	// open makes the model of a key that is named for the first time, or ends
	// the run.
	open    func(name value) *keyModel
	notices []Notice
	db      int
	// clock is the masters' time in unix milliseconds, or nil.
	clock func() int64
}

// touch is the key that a command names.
func (r *run) touch(name value) *keyModel {
	if f, ok := name.(float64); ok {
		name = formatNumber(f, 17)
	}
	if _, ok := name.(sealed); !ok {
		name = r.text(name)
	}
	for _, k := range r.space.keys {
		if k.name == name {
			return k
		}
	}
	r.grow(256)
	k := r.space.open(name)
	r.space.keys = append(r.space.keys, k)
	return k
}

// onlyKey is the space of a proof: one key, which may have been named by an
// earlier run of the same proof. What uses several keys is run for each call.
func onlyKey(found content) *space {
	s := &space{}
	s.open = func(name value) *keyModel {
		if len(s.keys) > 0 {
			panic(unproved{})
		}
		return &keyModel{name: name, found: found, now: found}
	}
	return s
}

// key is the key of a proof's run; without a name if it used none.
func (s *space) key(found content) *keyModel {
	if len(s.keys) == 0 {
		return &keyModel{found: found, now: found}
	}
	return s.keys[0]
}

// wrote is whether a run has done anything that others see.
func (s *space) wrote() bool {
	for _, k := range s.keys {
		if k.wrote() {
			return true
		}
	}
	return len(s.notices) > 0
}

// masterTime is for absolute expiries, which are not proved.
func (r *run) masterTime() int64 {
	if r.proving {
		panic(unproved{})
	}
	if r.space.clock == nil {
		refuse("uses an absolute time, which is not kept here")
	}
	return r.space.clock()
}
