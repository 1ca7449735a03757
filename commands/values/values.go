// Package values keeps a hash as one string, which the masters store like any token: a change of
// the hash is one compare-and-set of that string. Clients never see it.
//
// The string is Magic, the kind, a space, and the members in order, each as netstrings: of a hash
// the field and what it holds. So equal values are equal strings, and a kind with other members
// can be added.
package values

import (
	"slices"
	"strconv"
	"strings"
)

// Magic begins every value that is not a client's own string.
const Magic = "\x00redlockd:"

// The kinds of values, in the words of TYPE.
const (
	String   = "string"
	HashKind = "hash"
)

const beginsHash = Magic + HashKind + " "

// Hidden reports whether a token is a value, and no string that a client may see or send.
func Hidden(token string) bool { return strings.HasPrefix(token, Magic) }

// TypeOf returns the kind of what a key holds; "unknown" if it is none that this redlockd knows.
func TypeOf(token string) string {
	switch {
	case !Hidden(token):
		return String
	case strings.HasPrefix(token, beginsHash):
		return HashKind
	}
	return "unknown"
}

// Member is a field of a hash and what it holds.
type Member struct{ Field, Value string }

// Hash is a hash as the masters store it. It is comparable; two with the same members are equal.
type Hash string

// HashOf returns the hash with these members, of which no two have the same field.
func HashOf(members ...Member) Hash {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Field, b.Field) })
	b := []byte(beginsHash)
	for _, m := range members {
		b = appendNetstring(appendNetstring(b, m.Field), m.Value)
	}
	return Hash(b)
}

func appendNetstring(b []byte, s string) []byte {
	b = append(strconv.AppendInt(b, int64(len(s)), 10), ':')
	return append(append(b, s...), ',')
}

// Members returns the members in the order of their fields. What is damaged is left out, with
// all that follows.
func (h Hash) Members() (list []Member) {
	rest, ok := strings.CutPrefix(string(h), beginsHash)
	for ok && rest != "" {
		var m Member
		if m.Field, rest, ok = netstring(rest); ok {
			m.Value, rest, ok = netstring(rest)
		}
		if ok {
			list = append(list, m)
		}
	}
	return list
}

// netstring returns the first one of s, and what follows.
func netstring(s string) (text, rest string, ok bool) {
	size, rest, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(size)
	if !ok || err != nil || n < 0 || n >= len(rest) || rest[n] != ',' {
		return "", "", false
	}
	return rest[:n], rest[n+1:], true
}

// Get returns what a field holds.
func (h Hash) Get(field string) (string, bool) {
	rest, ok := strings.CutPrefix(string(h), beginsHash)
	for ok {
		var name, value string
		if name, rest, ok = netstring(rest); ok {
			value, rest, ok = netstring(rest)
		}
		if ok && name == field {
			return value, true
		}
	}
	return "", false
}

// With returns the hash in which the field holds value.
func (h Hash) With(field, value string) Hash {
	rest, _ := h.Without(field)
	return HashOf(append(rest.Members(), Member{field, value})...)
}

// Without returns the hash without the field, and whether any other is left.
func (h Hash) Without(field string) (rest Hash, some bool) {
	list := slices.DeleteFunc(h.Members(), func(m Member) bool { return m.Field == field })
	return HashOf(list...), len(list) > 0
}

// Only returns the one member of a hash of one holder.
func (h Hash) Only() (Member, bool) {
	list := h.Members()
	if len(list) != 1 {
		return Member{}, false
	}
	return list[0], true
}

// SameHolders reports whether two tokens are of the same holders: the same strings, or hashes
// with the same fields, whatever these hold.
func SameHolders(a, b string) bool {
	if a == b || TypeOf(a) != HashKind || TypeOf(b) != HashKind {
		return a == b
	}
	return slices.EqualFunc(Hash(a).Members(), Hash(b).Members(), func(x, y Member) bool { return x.Field == y.Field })
}

// Changed returns the fields that one of the two tokens has and the other has not, or in which
// they hold different things; all if nothing differs. What is no hash has no fields.
func Changed(was, is string) (fields []string) {
	all := map[string]bool{}
	for _, pair := range [][2]Hash{{Hash(was), Hash(is)}, {Hash(is), Hash(was)}} {
		for _, m := range pair[0].Members() {
			v, ok := pair[1].Get(m.Field)
			all[m.Field] = all[m.Field] || !ok || v != m.Value
		}
	}
	for field, differs := range all {
		if differs || was == is {
			fields = append(fields, field)
		}
	}
	return fields
}
