package script

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
)

// commandFunc carries out one command; args[0] is its name. failure is the
// text of Redis's error reply.
type commandFunc = func(r *run, args []value) (reply value, failure string)

// keyCommand is a command with the bounds of its number of arguments, the name included;
// most 0 is no bound.
type keyCommand struct {
	least, most int
	run         commandFunc
}

var keyCommands map[string]keyCommand

func init() {
	keyCommands = map[string]keyCommand{
		"GET":         {2, 2, get},
		"MGET":        {2, 0, mget},
		"GETSET":      {3, 3, getset},
		"GETDEL":      {2, 2, getdel},
		"SET":         {3, 0, set},
		"SETNX":       {3, 3, setnx},
		"SETEX":       {4, 4, setex(grammar.EX, "setex")},
		"PSETEX":      {4, 4, setex(grammar.PX, "psetex")},
		"DEL":         {2, 0, del},
		"UNLINK":      {2, 0, del},
		"EXISTS":      {2, 0, exists},
		"EXPIRE":      {3, 0, setExpiry(grammar.EX, "expire")},
		"PEXPIRE":     {3, 0, setExpiry(grammar.PX, "pexpire")},
		"EXPIREAT":    {3, 0, setExpiry(grammar.EXAT, "expireat")},
		"PEXPIREAT":   {3, 0, setExpiry(grammar.PXAT, "pexpireat")},
		"TTL":         {2, 2, ttlCommand(true)},
		"PTTL":        {2, 2, ttlCommand(false)},
		"PEXPIRETIME": {2, 2, expireTime(1)},
		"EXPIRETIME":  {2, 2, expireTime(1000)},
		"PERSIST":     {2, 2, persist},
		"MSET":        {3, 0, mset},
		"MSETNX":      {3, 0, msetnx},
		"TOUCH":       {2, 0, exists},
		"DELEX":       {2, 4, delex},
		"DELIFEQ":     {3, 3, delifeq},
		"DIGEST":      {2, 2, digest},
		"GETEX":       {2, 4, getex},
		"MSETEX":      {4, 0, msetex},
		"SELECT":      {2, 2, selectDB},
		"PUBLISH":     {3, 3, publish(false)},
		"SPUBLISH":    {3, 3, publish(true)},
		"LPUSH":       {3, 0, pushTo(true)},
		"RPUSH":       {3, 0, pushTo(false)},
		"LTRIM":       {4, 4, trim},
		"GETRANGE":    {4, 4, getrange},
		"SUBSTR":      {4, 4, getrange},
		"STRLEN":      {2, 2, strlen},
		"TYPE":        {2, 2, keyType},
		"KEYS":        {2, 2, keysCommand},
		"HSET":        {4, 0, hset},
		"HSETNX":      {4, 4, hsetnx},
		"HINCRBY":     {4, 4, hincrby},
		"HDEL":        {3, 0, hdel},
		"HGET":        {3, 3, hget},
		"HMGET":       {3, 0, hmget},
		"HEXISTS":     {3, 3, hexists},
		"HLEN":        {2, 2, hlen},
		"HKEYS":       {2, 2, hashList(fieldOf)},
		"HVALS":       {2, 2, hashList(valueOf)},
		"HGETALL":     {2, 2, hashList(fieldOf, valueOf)},
	}
}

func get(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" {
		return nil, failure
	}
	return k.get(), ""
}

func mget(r *run, args []value) (value, string) {
	var all []value
	for _, name := range args[1:] {
		if k, failure := r.touchString(name); failure == "" {
			all = append(all, k.get())
		} else {
			all = append(all, false)
		}
	}
	return lua.List(r.Budget, all...), ""
}

func getdel(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" {
		return nil, failure
	}
	old := k.get()
	k.remove()
	return old, ""
}

// selectDB is SELECT of the database in which the script runs, with which some scripts
// begin.
func selectDB(r *run, args []value) (value, string) {
	n, ok := resp.ParseInt(r.word(args[1]))
	switch {
	case !ok:
		return nil, grammar.ErrNotInteger
	case n != int64(r.space.db):
		lua.Refuse("selects another database")
	}
	return lua.Record(r.Budget, "ok", "OK"), ""
}

func del(r *run, args []value) (value, string) {
	count, seen := 0.0, true
	for _, name := range args[1:] {
		k := r.touchAny(name)
		seen = seen && !k.signal
		k.bounded = true
		if k.now.exists {
			count++
			k.remove()
		}
	}
	if !seen {
		return signalNumber{}, ""
	}
	return count, ""
}

func exists(r *run, args []value) (value, string) {
	count := 0.0
	for _, name := range args[1:] {
		if r.touch(name).now.exists {
			count++
		}
	}
	return count, ""
}

func ttlCommand(seconds bool) commandFunc {
	return func(r *run, args []value) (value, string) {
		return r.left(r.touch(args[1]), seconds), ""
	}
}

// expireTime returns PEXPIRETIME or EXPIRETIME: the time in units of unit milliseconds.
func expireTime(unit int64) commandFunc {
	return func(r *run, args []value) (value, string) {
		left := r.left(r.touch(args[1]), false)
		if f, ok := left.(float64); ok && f < 0 {
			return f, ""
		}
		at := r.wallClock() + int64(r.reveal(left).(float64))
		return float64((at + unit/2) / unit), ""
	}
}

func persist(r *run, args []value) (value, string) {
	k := r.touch(args[1])
	if !k.now.exists || k.now.expiry.kind == never {
		return 0.0, ""
	}
	k.now.expiry = expiry{}
	return 1.0, ""
}

func strlen(r *run, args []value) (value, string) {
	k, failure := r.touchString(args[1])
	if failure != "" || !k.now.exists {
		return 0.0, failure
	}
	return float64(len(r.text(k.now.value))), ""
}

// getrange is GETRANGE: both ends are included, negative positions count from the end.
func getrange(r *run, args []value) (value, string) {
	from, to, failure := r.positions(args[2], args[3])
	if failure != "" {
		return nil, failure
	}
	k, failure := r.touchString(args[1])
	if failure != "" || !k.now.exists {
		return "", failure
	}
	text := r.text(k.get())
	n := int64(len(text))
	if from < 0 && to < 0 && from > to {
		return "", ""
	}
	from, to = within(from, max(to, -n), n) // an end before the first byte is the first
	if from > to {
		return "", ""
	}
	r.Step(1 + int(to-from)/16)
	return text[from : to+1], ""
}

// within returns the positions from and to, both included, of what has n places; negative
// ones count from the end. There is nothing between them if from > to.
func within(from, to, n int64) (int64, int64) {
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to += n
	}
	return from, min(to, n-1)
}

func keyType(r *run, args []value) (value, string) {
	kind, k := "none", r.touch(args[1])
	switch v := k.now.value.(type) {
	case nil:
	case otherKind:
		panic(unproved{})
	case values.Hash:
		kind = values.TypeOf(string(v))
	default:
		kind = values.String
	}
	return lua.Record(r.Budget, "ok", kind), ""
}

// keysCommand is KEYS: those of the listed keys that exist.
func keysCommand(r *run, args []value) (value, string) {
	if r.proving {
		panic(unproved{})
	}
	glob := r.word(args[1])
	listed, ok := r.space.listed[glob]
	if !ok {
		panic(&NeedsKeysError{glob})
	}
	var there []value
	for _, name := range listed {
		if r.touch(name).now.exists {
			there = append(there, name)
		}
	}
	return lua.List(r.Budget, there...), ""
}
