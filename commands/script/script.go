package script

import (
	"time"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// Kind is what a script does to its key.
type Kind uint8

const (
	// Nothing: it never looks at a key; Reply[Absent] is the reply.
	Nothing Kind = iota
	// Reads: it changes nothing in any state.
	Reads
	// Acquires: it stores Token with TTL where the key is absent, and does
	// nothing otherwise.
	Acquires
	// AcquiresOrExtends: it acquires like Acquires, and gives the key TTL where it holds
	// Token.
	AcquiresOrExtends
	// Releases: it deletes the key where it holds Token.
	Releases
	// Extends: it gives the key TTL where it holds Token (by expire, or by
	// set to the same token).
	Extends
	// PerCall: what it does was not proved for all calls; Run returns it for given
	// states, and it must be carried out as one compare-and-set.
	PerCall
)

// The states that matter, as indexes of Meaning.Reply.
const (
	Absent = iota // no key
	Ours          // the key holds Token
	Other         // the key holds another string
	Typed         // the key holds something that is no string
	states
)

// Meaning is what one call of a script does.
type Meaning struct {
	Kind Kind
	// Key is the one key the script uses, or the first of Keys; empty for
	// Nothing.
	Key string
	// Token is what the script compares the stored value with, or stores; empty for
	// Nothing, PerCall, and Reads that compare it with nothing.
	Token string
	// TTL is what the script gives the key; 0 if it gives none, which an Acquires may do
	// (SET NX without expiry), an Extends never.
	TTL time.Duration
	// Reply is the reply table: the reply by the state found; nil for PerCall.
	// It is shared with other calls and must not be written to.
	Reply *[states]Value
	// Extra is nil for most meanings.
	*Extra
}

// Extra is for PerCall, whose effects Run returns, and for other kinds that have Notices.
type Extra struct {
	// Keys, for PerCall, are all keys the call uses: one or more, all
	// different.
	Keys []string
	// Run, for PerCall, runs the script on the states of Keys. Its error is a
	// *RefusedError. It is safe for concurrent use.
	Run func([]State) (Result, error)
	// Prolongs reports, for PerCall on several keys, whether it does nothing in any state
	// but prolong locks.
	Prolongs bool
	// Hashes reports, for PerCall, whether it calls commands on hashes.
	Hashes bool
	// Notices, for all other kinds, are the notices by the state found.
	Notices [states][]Notice
}

// Result is what one run did.
type Result struct {
	// Effects are in the order of Extra.Keys.
	Effects []Effect
	Reply   Value
	// Notices are to be given, and Latches kept, once the effects are carried out.
	Notices []Notice
	Latches []Latch
	// ReadsLeft reports whether the run read what is left of a TTL.
	ReadsLeft bool
}

// State is what a key holds: a string, or a value of package values.
type State struct {
	Found bool
	Value string
	// TTL is at least a millisecond; a lock without a TTL does not exist here.
	TTL time.Duration
}

// EffectKind is what one run did to the key.
type EffectKind uint8

const (
	// None: the key is as it was.
	None EffectKind = iota
	// Delete: the key is gone.
	Delete
	// Set: the key holds Value, with TTL.
	Set
	// SetTTL: the key's value is as it was; its TTL is TTL.
	SetTTL
)

// Effect is what one run did to the key. A TTL of 0 means none (PERSIST, SET
// without expiry).
type Effect struct {
	Kind  EffectKind
	Value string
	TTL   time.Duration
	// Keeps reports whether TTL is the one found (KEEPTTL).
	Keeps bool
}

// ValueKind is the kind of a reply, by Lua's rules.
type ValueKind uint8

const (
	// Null is Lua's false or nil.
	Null ValueKind = iota
	// Int is a number, cut to an integer, and Lua's true (1).
	Int
	// Bulk is a string.
	Bulk
	// Status is {ok = ...}: +OK.
	Status
	// Error is {err = ...}; Text holds code and text as Redis 7 sends them.
	Error
	// Array is a table, Map the reply of HGETALL outside of scripts.
	Array
	Map
	// StoredValue stands for the value found under the key.
	StoredValue
	// StoredPTTL and StoredTTL stand for its remaining time in milliseconds
	// and in seconds, rounded as Redis rounds them.
	StoredPTTL
	StoredTTL
)

// Value is a reply, or a shape of one.
type Value struct {
	Kind  ValueKind
	Int   int64
	Text  string
	Items []Value
}

// RefusedError names what a script did that is not an operation on locks.
type RefusedError = lua.RefusedError

// NeedsKeysError means that a call asks for all keys of a pattern: the caller lists them
// and calls Sweep. Its text is the reply of callers that cannot.
type NeedsKeysError struct{ Pattern string }

func (e *NeedsKeysError) Error() string {
	return "ERR KEYS in a script is allowed only outside MULTI"
}

// ErrNoScript means that the SHA1 is not known, in Redis's own words.
var ErrNoScript error = redisError("NOSCRIPT No matching script. Please use EVAL.")

// redisError is an error text that clients know, full stop included.
type redisError string

func (e redisError) Error() string { return string(e) }
