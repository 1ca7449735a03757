package users

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// Account is a User as sessions have it (commands.Rights). It never changes.
type Account struct {
	name string
	sums [][sha256.Size]byte
	// open lets everybody in: the default user of a redlockd without passwords.
	open bool
	// all is without limits: then the rest is empty.
	all            bool
	keys, channels []string
	operations     commands.Operations
}

// May is part of commands.Rights.
func (u *Account) May(ops commands.Operations) bool { return u.all || ops&^u.operations == 0 }

// Key is part of commands.Rights.
func (u *Account) Key(key string) bool { return u.all || matches(u.keys, key) }

// Channel is part of commands.Rights.
func (u *Account) Channel(name string) bool { return u.all || matches(u.channels, name) }

// Pattern reports whether the user may subscribe to a pattern: to one of its own,
// letter by letter, as in Redis, since what a pattern covers is not compared.
func (u *Account) Pattern(p string) bool {
	return u.all || slices.Contains(u.channels, p) || slices.Contains(u.channels, "*")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == "*" || resp.Glob(p, name) })
}

// SameRights reports whether it has the rights of the other.
func (u *Account) SameRights(other *Account) bool {
	return u.all == other.all && u.operations == other.operations && slices.Equal(u.keys, other.keys) &&
		slices.Equal(u.channels, other.channels)
}

// admits compares with every password, in a time that tells nothing: the sums
// have one length.
func (u *Account) admits(password []byte) bool {
	sum, right := sha256.Sum256(password), 0
	for i := range u.sums {
		right |= subtle.ConstantTimeCompare(sum[:], u.sums[i][:])
	}
	return u.open || right == 1
}

// A Set is all who may log in, by name. It never changes: a reload makes
// another one.
type Set map[string]*Account

// Default is the user of AUTH without a name.
const Default = "default"

// New are the users of a configuration, which must be valid: the default user
// with its passwords, and the others. Without any the default user is open; where
// there are others it is only there if it has a password.
func New(passwords []string, others []User) Set {
	all := Set{}
	for _, u := range others {
		all[u.Name] = NewAccount(u)
	}
	if open := len(passwords) == 0 && len(others) == 0; open || len(passwords) > 0 {
		all[Default] = &Account{name: Default, sums: sums(passwords), open: open, all: true}
	}
	return all
}

// NewAccount is the Account of a user.
func NewAccount(u User) *Account {
	return &Account{name: u.Name, sums: sums(u.Passwords), operations: u.Operations, keys: u.Keys, channels: u.Channels}
}

// Admits reports whether there is a user of this name with this password, and which
// it is. It takes a time that does not depend on that.
func (all Set) Admits(name string, password []byte) (*Account, bool) {
	u, known := all[name]
	if !known {
		u = nobody
	}
	return u, u.admits(password)
}

// nobody is compared with where there is no such user.
var nobody = &Account{name: "(unknown)", sums: make([][32]byte, 1)}

// Names are sorted.
func (all Set) Names() []string { return slices.Sorted(maps.Keys(all)) }

func sums(passwords []string) (list [][sha256.Size]byte) {
	for _, text := range passwords {
		if sum, err := Password(text); err == nil {
			list = append(list, sum)
		}
	}
	return list
}

// Open is the user of a session that has not logged in, or nil.
func (all Set) Open() *Account {
	if u := all[Default]; u != nil && u.open {
		return u
	}
	return nil
}

// Name is what it logs in by.
func (u *Account) Name() string { return u.name }

// Open reports whether it needs no password.
func (u *Account) Open() bool { return u.open }

// Unlimited reports whether it may do everything.
func (u *Account) Unlimited() bool { return u.all }

// Passwords is how many it has.
func (u *Account) Passwords() int { return len(u.sums) }
