package users

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/invalid"
	"github.com/redlockd/redlockd/internal/resp"
)

// maxUserName bounds a user's name.
const maxUserName = 256

// User is a user that may log in with AUTH, and what it may do then.
type User struct {
	Name string
	// Passwords are the user's passwords, any of which will do, each in clear or as a
	// hash (see Password).
	Passwords []string
	// Keys are patterns, like Redis's, of the keys that the user may name; Channels are
	// those of the channels to which it may publish and subscribe.
	Keys, Channels []string
	Operations     commands.Operations
}

// Password returns the SHA-256 of a password that is given in clear, or as # and the 64
// hexadecimal digits of its SHA-256, as in Redis's ACL.
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

// Problems returns what is wrong with the passwords of the default user and with the
// other users.
func Problems(passwords []string, others []User) (errs []error) {
	check := func(path, who string, list []string) {
		for _, text := range list {
			if _, err := Password(text); err != nil {
				errs = append(errs, invalid.Errorf(path, "%s: %v", who, err))
			}
			if text == "" {
				errs = append(errs, invalid.Errorf(path, "%s: a password is empty", who))
			}
		}
	}
	check("password", "password", passwords)
	seen := map[string]bool{}
	for _, u := range others {
		path, who := "user."+u.Name, fmt.Sprintf("user %q", u.Name)
		switch {
		case u.Name == "" || !resp.Printable([]byte(u.Name)) || len(u.Name) > maxUserName:
			errs = append(errs, invalid.Errorf(path, "%s: expected a name of 1 to %d letters without spaces", who, maxUserName))
		case seen[u.Name]:
			errs = append(errs, invalid.Errorf(path, "%s is defined twice", who))
		case u.Name == Default && len(passwords) > 0:
			errs = append(errs, invalid.Errorf(path, "%s has a block, and a password is set beside it: expected one of them", who))
		case len(u.Passwords) == 0:
			errs = append(errs, invalid.Errorf(path+".password", "%s has no password", who))
		case len(u.Keys) == 0:
			errs = append(errs, invalid.Errorf(path+".keys", `%s may name no key, expected keys, as ["locks:orders:*"]`, who))
		case u.Operations == 0:
			errs = append(errs, invalid.Errorf(path+".operations", `%s may do nothing, expected operations, as ["acquire", "release"]`, who))
		}
		seen[u.Name] = true
		check(path, who, u.Passwords)
	}
	return errs
}
