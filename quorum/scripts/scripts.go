package scripts

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/quorum/tail"
)

// Script is a script that runs on the masters, atomically on each.
type Script struct{ Text, SHA string }

// newScript cuts values as package tail writes them, where a script has string.sub as sub: a value
// v has the token of a stem if "@has(stem)", of a bare token too. Text in place of functions spares a
// master the time to make these in each call.
func newScript(text string) *Script {
	text = strings.NewReplacer(
		"@tailed", "sub(v, -40, -38) == '"+tail.Magic+"'",
		"@has(stem)", "(sub(v, 1, -38) == stem or sub(v, -40, -38) ~= '"+tail.Magic+"' and v .. '"+tail.Magic+"' == stem)",
		"@lock", "sub(v, -37, -30)", "@attempt", "sub(v, -29, -22)", "@since", "sub(v, -21, -13)",
		"@times", "sub(v, -12)", "@end", "sub(v, -12, -4)", "@grace", "sub(v, -3)",
		"@tolerance", strconv.Itoa(Tolerance)).Replace(text)
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Tolerance is by how many milliseconds an expiry may be later than the one asked for and
// still count as that: two readings of a clock differ by less.
const Tolerance = 128

// The scripts for locks beside [Change] and [Bundle]. A value is all that a master stores, a stem
// its token with the beginning of its tail (package tail).
var (
	// Acquire is SET NX GET for masters before 7.0: value, expiry. It answers the value that is
	// there, or 1.
	Acquire = newScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) or 0`)

	// Release: stem. It answers the value that was there, or 0.
	Release = newScript(`
local v, stem, sub = redis.call('GET', KEYS[1]), ARGV[1], string.sub
if not v then return 0 end
if @has(stem) then redis.call('DEL', KEYS[1]) end
return v`)

	// Read answers value and remaining milliseconds.
	Read = newScript(`
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}`)
)
