package users

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// Account is a User as sessions use it. It implements commands.Rights and never changes.
type Account struct {
	name string
	sums [][sha256.Size]byte
	// open is set for the default user of a redlockd without passwords: it needs none.
	open bool
	// all is set for a user without limits; the fields below are empty then.
	all            bool
	keys, channels []string
	operations     commands.Operations
}

// May implements commands.Rights.
func (u *Account) May(ops commands.Operations) bool { return u.all || ops&^u.operations == 0 }

// Key implements commands.Rights.
func (u *Account) Key(key string) bool { return u.all || matches(u.keys, key) }

// Channel implements commands.Rights.
func (u *Account) Channel(name string) bool { return u.all || matches(u.channels, name) }

// Pattern reports whether the user may subscribe to a pattern. As in Redis it must equal
// one of the user's own, since what a pattern covers is not compared.
func (u *Account) Pattern(p string) bool {
	return u.all || slices.Contains(u.channels, p) || slices.Contains(u.channels, "*")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == "*" || resp.Glob(p, name) })
}

// SameRights reports whether both accounts have the same rights.
func (u *Account) SameRights(other *Account) bool {
	return u.all == other.all && u.operations == other.operations && slices.Equal(u.keys, other.keys) &&
		slices.Equal(u.channels, other.channels)
}

// admits compares the password with all of the account's, in constant time: the hashes
// have one length.
func (u *Account) admits(password []byte) bool {
	sum, right := sha256.Sum256(password), 0
	for i := range u.sums {
		right |= subtle.ConstantTimeCompare(sum[:], u.sums[i][:])
	}
	return u.open || right == 1
}

// A Set holds all users that may log in, by name. It never changes: a reload makes
// another one.
type Set map[string]*Account

// Default is the user of AUTH without a name.
const Default = "default"

// New returns the users of a configuration, which must be valid: the default user with
// its passwords, and the others. Without any the default user is open; where there are
// others it is only there if it has a password.
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

// NewAccount returns the Account of a user.
func NewAccount(u User) *Account {
	return &Account{name: u.Name, sums: sums(u.Passwords), operations: u.Operations, keys: u.Keys, channels: u.Channels}
}

// Admits reports whether there is a user of this name with this password, and returns it.
// Its time depends on neither.
func (all Set) Admits(name string, password []byte) (*Account, bool) {
	u, known := all[name]
	if !known {
		u = nobody
	}
	return u, u.admits(password)
}

// nobody stands in for a user that does not exist, so that Admits takes as long.
var nobody = &Account{name: "(unknown)", sums: make([][32]byte, 1)}

// Names returns the names, sorted.
func (all Set) Names() []string { return slices.Sorted(maps.Keys(all)) }

func sums(passwords []string) (list [][sha256.Size]byte) {
	for _, text := range passwords {
		if sum, err := Password(text); err == nil {
			list = append(list, sum)
		}
	}
	return list
}

// Open returns the user of a session that has not logged in, or nil.
func (all Set) Open() *Account {
	if u := all[Default]; u != nil && u.open {
		return u
	}
	return nil
}

// Name returns the user's name.
func (u *Account) Name() string { return u.name }

// Open reports whether the user needs no password.
func (u *Account) Open() bool { return u.open }

// Unlimited reports whether the user may do everything.
func (u *Account) Unlimited() bool { return u.all }

// Passwords returns how many passwords the user has.
func (u *Account) Passwords() int { return len(u.sums) }
