package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/invalid"
	"github.com/redlockd/redlockd/internal/resp"
)

// User is one who may log in with AUTH, and what it may do then.
type User struct {
	Name string
	// Passwords are any of which will do, each in clear or as Password takes
	// it.
	Passwords []string
	// Keys are patterns as Redis's of the keys it may name; Channels are those
	// of the channels it may publish and subscribe to.
	Keys, Channels []string
	Operations     commands.Operations
}

// Password is the SHA-256 of a password that is given in clear, or as # and
// the 64 hexadecimal digits of its SHA-256, as in Redis's ACL.
func Password(text string) (sum [sha256.Size]byte, err error) {
	digits, hashed := strings.CutPrefix(text, "#")
	if !hashed {
		return sha256.Sum256([]byte(text)), nil
	}
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != len(sum) {
		return sum, errors.New("a password that begins with # is a SHA-256, expected 64 hexadecimal digits behind it")
	}
	return [sha256.Size]byte(raw), nil
}

// user is a User as sessions have it (commands.Rights). It never changes.
type user struct {
	name string
	sums [][sha256.Size]byte
	// open lets everybody in: the default user of a redlockd without passwords.
	open bool
	// all is without limits: then the rest is empty.
	all            bool
	keys, channels []string
	operations     commands.Operations
	in             interpreter
}

// May is part of commands.Rights.
func (u *user) May(ops commands.Operations) bool { return u.all || ops&^u.operations == 0 }

// Key is part of commands.Rights.
func (u *user) Key(key string) bool { return u.all || matches(u.keys, key) }

// Channel is part of commands.Rights.
func (u *user) Channel(name string) bool { return u.all || matches(u.channels, name) }

// pattern reports whether the user may subscribe to a pattern: to one of its own,
// letter by letter, as in Redis, since what a pattern covers is not compared.
func (u *user) pattern(p string) bool {
	return u.all || slices.Contains(u.channels, p) || slices.Contains(u.channels, "*")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p == "*" || resp.Glob(p, name) })
}

// mayAs reports whether it has the rights of the other.
func (u *user) mayAs(other *user) bool {
	return u.all == other.all && u.operations == other.operations && slices.Equal(u.keys, other.keys) &&
		slices.Equal(u.channels, other.channels)
}

// admits compares with every password, in a time that tells nothing: the sums
// have one length.
func (u *user) admits(password []byte) bool {
	sum, right := sha256.Sum256(password), 0
	for i := range u.sums {
		right |= subtle.ConstantTimeCompare(sum[:], u.sums[i][:])
	}
	return u.open || right == 1
}

// users are all who may log in, by name. It never changes: a reload makes
// another one.
type users map[string]*user

// defaultName is the user of AUTH without a name.
const defaultName = "default"

// newUsers are the users of a configuration, which must be valid. Without any
// the default user is open; where there are others it is only there if it has a
// password.
func newUsers(cfg Config, in interpreter) users {
	all := users{}
	for _, u := range cfg.Users {
		all[u.Name] = &user{name: u.Name, sums: sums(u.Passwords), operations: u.Operations,
			keys: u.Keys, channels: u.Channels}
		// Only an Interpreter knows of rights; others are fakes without users.
		all[u.Name].in = in.(*commands.Interpreter).For(all[u.Name])
	}
	if open := len(cfg.Passwords) == 0 && len(cfg.Users) == 0; open || len(cfg.Passwords) > 0 {
		all[defaultName] = &user{name: defaultName, sums: sums(cfg.Passwords), open: open, all: true, in: in}
	}
	return all
}

func sums(passwords []string) (list [][sha256.Size]byte) {
	for _, text := range passwords {
		if sum, err := Password(text); err == nil {
			list = append(list, sum)
		}
	}
	return list
}

// open is the user of a session that has not logged in, or nil.
func (all users) open() *user {
	if u := all[defaultName]; u != nil && u.open {
		return u
	}
	return nil
}

// usersProblems are what is wrong with the users and passwords.
func (c Config) usersProblems() (errs []error) {
	check := func(path, who string, passwords []string) {
		for _, text := range passwords {
			if _, err := Password(text); err != nil {
				errs = append(errs, invalid.Errorf(path, "%s: %v", who, err))
			}
			if text == "" {
				errs = append(errs, invalid.Errorf(path, "%s: a password is empty", who))
			}
		}
	}
	check("password", "password", c.Passwords)
	seen := map[string]bool{}
	for _, u := range c.Users {
		path, who := "user."+u.Name, fmt.Sprintf("user %q", u.Name)
		switch {
		case u.Name == "" || !good([]byte(u.Name)) || len(u.Name) > maxName:
			errs = append(errs, invalid.Errorf(path, "%s: expected a name of 1 to %d letters without spaces", who, maxName))
		case seen[u.Name]:
			errs = append(errs, invalid.Errorf(path, "%s is defined twice", who))
		case u.Name == defaultName && len(c.Passwords) > 0:
			errs = append(errs, invalid.Errorf(path, "%s has a block, and a password is set beside it: expected one of them", who))
		case len(u.Passwords) == 0:
			errs = append(errs, invalid.Errorf(path, "%s has no password", who))
		case len(u.Keys) == 0:
			errs = append(errs, invalid.Errorf(path, `%s may name no key, expected keys, as ["locks:orders:*"]`, who))
		case u.Operations == 0:
			errs = append(errs, invalid.Errorf(path, `%s may do nothing, expected operations, as ["acquire", "release"]`, who))
		}
		seen[u.Name] = true
		check(path, who, u.Passwords)
	}
	return errs
}
