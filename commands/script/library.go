package script

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// Bounds of a Library. Beyond them the least recently used is dropped: a dropped script
// is NOSCRIPT, a dropped meaning is proved again.
const (
	maxScripts     = 1000
	maxSourceTotal = 512 << 10 // bytes of all scripts; their trees are larger
	maxShapes      = 1024      // forms without their revealed bytes, of all scripts
	maxMeanings    = 32        // per shape
	maxRevealed    = 256       // revealed bytes of a remembered meaning
	maxReplies     = 4 << 10   // about the bytes of its reply table
	// maxUnproved is how many PerCall meanings a shape may have before all of its calls
	// are PerCall: the input that was revealed is then not a flag but a token.
	maxUnproved = 8
)

// Library keeps the scripts of all sessions by their SHA1, and their proved meanings. It
// is bounded and safe for concurrent use.
type Library struct {
	mu      sync.Mutex
	scripts *lru[*loaded]
	bytes   int
	shapes  *lru[*memory]
	latches *lru[latch]
	// prolong are the shapes of calls that only prolong their KEYS, each by itself.
	prolong *lru[bool]
	clock   func() int64
}

type loaded struct {
	chunk *chunk
	size  int
}

// NewLibrary returns an empty library with the default bounds.
func NewLibrary() *Library {
	return &Library{scripts: newLRU[*loaded](maxScripts), shapes: newLRU[*memory](maxShapes), latches: newLRU[latch](maxLatches), prolong: newLRU[bool](maxShapes)}
}

// Clock sets the clock, in unix milliseconds, for scripts that use absolute times (PXAT,
// PEXPIREAT). Without it these are refused. It must be called
// before the library is used, and now must be safe for concurrent use.
func (l *Library) Clock(now func() int64) { l.clock = now }

// Load compiles and keeps body and returns its SHA1 in lower-case hex. The
// error's text is Redis's own for a script that does not compile:
// "ERR Error compiling script (new function): ...".
func (l *Library) Load(body string) (sha string, err error) {
	sum := sha1.Sum([]byte(body))
	sha = hex.EncodeToString(sum[:])
	if l.Exists(sha) {
		return sha, nil
	}
	c, err := compile(sha, body)
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.scripts.get([]byte(sha)); ok {
		return sha, nil
	}
	for len(l.scripts.entries) >= maxScripts || (l.bytes > 0 && l.bytes+len(body) > maxSourceTotal) {
		l.bytes -= l.scripts.evict().size
	}
	l.bytes += len(body)
	l.scripts.put(sha, &loaded{c, len(body)})
	return sha, nil
}

// Exists reports whether the script is known; sha in any case.
func (l *Library) Exists(sha string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.scripts.get([]byte(strings.ToLower(sha)))
	return ok
}

// Flush forgets all scripts and meanings.
func (l *Library) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scripts, l.shapes, l.bytes = newLRU[*loaded](maxScripts), newLRU[*memory](maxShapes), 0
}

// Scripts returns the number of scripts that are kept.
func (l *Library) Scripts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.scripts.entries)
}

// Understand returns what the script does when called with these keys and arguments in
// database db. The error is a *RefusedError if it does something that is not an operation
// on locks, ErrNoScript if the sha is not known, a *NeedsKeysError if Sweep is to be
// called.
//
// For a form that was met before, it runs the script only if the meaning is PerCall.
func (l *Library) Understand(db int, sha string, keys, args []string) (*Meaning, error) {
	if len(keys)+len(args) > maxInputs {
		return l.understandMany(db, sha, slices.Concat(keys, args), len(keys))
	}
	// On the stack, so callees that keep the inputs get a copy.
	var buffer [maxInputs]string
	inputs := append(append(buffer[:0], keys...), args...)
	f := form{inputs: inputs, keys: len(keys), db: db}
	f.compare()
	c, known, err := l.recall(sha, &f)
	if err != nil {
		return nil, err
	}
	if known == nil {
		known = l.prove(c, db, slices.Concat(keys, args), len(keys), f.revealed)
	}
	switch {
	case known.refused != nil:
		return nil, known.refused
	case known.kind == PerCall:
		return l.perCall(c, slices.Concat(keys, args), len(keys), db)
	}
	m := known.meaning(inputs)
	if err := m.overfilled(); err != nil {
		return nil, err
	}
	return m, nil
}

// prove finds out what a form means and remembers it.
func (l *Library) prove(c *chunk, db int, inputs []string, keys int, revealed uint32) *summary {
	f := form{inputs: inputs, keys: keys, db: db, revealed: revealed}
	f.compare()
	known := prove(c, &f)
	l.remember(c.sha, &f, known)
	return known
}

// understandMany is Understand for more inputs than a form has.
func (l *Library) understandMany(db int, sha string, inputs []string, keys int) (*Meaning, error) {
	c, err := l.find(sha)
	if err != nil {
		return nil, err
	}
	return l.perCall(c, inputs, keys, db)
}

func (l *Library) find(sha string) (*chunk, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.scripts.get([]byte(strings.ToLower(sha)))
	if !ok {
		return nil, ErrNoScript
	}
	return s.chunk, nil
}
