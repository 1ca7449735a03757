package script

import (
	"math"
	"strconv"

	"github.com/redlockd/redlockd/commands/script/lua"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
)

// The commands on hashes. Nothing is proved with them: what a field holds is calculated.

// hash returns the key that a command names, and the hash in it; an empty one if it is absent.
func (r *run) hash(name value) (k *keyModel, h values.Hash, failure string) {
	if r.proving {
		panic(unproved{})
	}
	r.space.hashes = true
	k = r.touch(name)
	if !k.now.exists {
		return k, values.HashOf(), ""
	}
	h, ok := k.now.value.(values.Hash)
	if !ok || values.TypeOf(string(h)) != values.HashKind {
		return k, "", wrongType
	}
	r.Step(1 + len(h)/16)
	return k, h, ""
}

// putHash stores the hash, and keeps the expiry that the key has.
func (r *run) putHash(k *keyModel, h values.Hash) {
	r.Grow(len(h))
	k.now.exists, k.now.value = true, h
}

func hset(r *run, args []value) (value, string) {
	if len(args)%2 == 1 {
		return nil, "ERR wrong number of arguments for 'hset' command"
	}
	k, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	added := 0.0
	for i := 2; i < len(args); i += 2 {
		field := r.word(args[i])
		if _, there := h.Get(field); !there {
			added++
		}
		h = h.With(field, r.word(args[i+1]))
		r.putHash(k, h)
	}
	return added, ""
}

func hsetnx(r *run, args []value) (value, string) {
	k, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	field := r.word(args[2])
	if _, there := h.Get(field); there {
		return 0.0, ""
	}
	r.putHash(k, h.With(field, r.word(args[3])))
	return 1.0, ""
}

func hincrby(r *run, args []value) (value, string) {
	by, failure := r.position(args[3])
	if failure != "" {
		return nil, failure
	}
	k, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	field, was := r.word(args[2]), int64(0)
	if text, there := h.Get(field); there {
		if was, there = resp.ParseInt([]byte(text)); !there {
			return nil, "ERR hash value is not an integer"
		}
	}
	if by > 0 && was > math.MaxInt64-by || by < 0 && was < math.MinInt64-by {
		return nil, "ERR increment or decrement would overflow"
	}
	r.putHash(k, h.With(field, strconv.FormatInt(was+by, 10)))
	return float64(was + by), ""
}

func hdel(r *run, args []value) (value, string) {
	k, h, failure := r.hash(args[1])
	if failure != "" || !k.now.exists {
		return 0.0, failure
	}
	gone, some := 0.0, true
	for _, a := range args[2:] {
		field := r.word(a)
		if _, there := h.Get(field); there {
			gone++
			h, some = h.Without(field)
		}
	}
	switch {
	case !some:
		k.remove()
	case gone > 0:
		r.putHash(k, h)
	}
	return gone, ""
}

func hget(r *run, args []value) (value, string) {
	_, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	return fieldIn(r, h, args[2]), ""
}

// fieldIn returns what a field holds, or Lua's false for null.
func fieldIn(r *run, h values.Hash, name value) value {
	if v, ok := h.Get(r.word(name)); ok {
		return v
	}
	return false
}

func hmget(r *run, args []value) (value, string) {
	_, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	var all []value
	for _, name := range args[2:] {
		all = append(all, fieldIn(r, h, name))
	}
	return lua.List(r.Budget, all...), ""
}

func hexists(r *run, args []value) (value, string) {
	_, h, failure := r.hash(args[1])
	if failure != "" {
		return nil, failure
	}
	if fieldIn(r, h, args[2]) == false {
		return 0.0, ""
	}
	return 1.0, ""
}

func hlen(r *run, args []value) (value, string) {
	_, h, failure := r.hash(args[1])
	return float64(len(h.Members())), failure
}

func fieldOf(m values.Member) string { return m.Field }
func valueOf(m values.Member) string { return m.Value }

// hashList returns HKEYS, HVALS or HGETALL: those parts of each member.
func hashList(parts ...func(values.Member) string) commandFunc {
	return func(r *run, args []value) (value, string) {
		_, h, failure := r.hash(args[1])
		if failure != "" {
			return nil, failure
		}
		var all []value
		for _, m := range h.Members() {
			for _, part := range parts {
				all = append(all, part(m))
			}
		}
		return lua.List(r.Budget, all...), ""
	}
}
