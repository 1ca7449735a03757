package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/users"
)

// maxPasswordFile bounds a password_file in bytes.
const maxPasswordFile = 64 << 10

// user decodes a block user of listen.
func (d *decoder) user(cfg *Config) inner {
	return func(block *hcl.Block) {
		u := users.User{Name: block.Labels[0]}
		d.attributesAt("listen.user."+u.Name, block, []setting{
			{"password", passwordsTo(&u.Passwords)},
			{"password_file", passwordFileTo(&u.Passwords)},
			{"keys", stringsTo(&u.Keys, `["locks:orders:*"]`)},
			{"channels", stringsTo(&u.Channels, `["orders:*"]`)},
			{"operations", operationsTo(&u.Operations)},
		}, nil)
		cfg.Proxy.Users = append(cfg.Proxy.Users, u)
	}
}

// passwordsTo stores one password or several, any of which is accepted, so that a
// password can be changed while clients still send the old one. An empty string is no
// password.
func passwordsTo(to *[]string) func(cty.Value) string {
	return func(v cty.Value) string {
		var one string
		if stringTo(&one)(v) == "" {
			if one != "" {
				*to = append(*to, one)
			}
			return ""
		}
		var list []string
		if stringsTo(&list, "")(v) != "" {
			return "a string in quotes, or a list of them"
		}
		*to = append(*to, list...)
		return ""
	}
}

// passwordFileTo takes the name of a file that has a password in each line.
func passwordFileTo(to *[]string) func(cty.Value) string {
	return func(v cty.Value) string {
		var name string
		if stringTo(&name)(v) != "" {
			return "the name of a file in quotes"
		}
		source, err := readBounded(name, maxPasswordFile)
		if err != nil {
			return "a file that can be read: " + err.Error()
		}
		found := false
		for password := range strings.Lines(string(source)) {
			if password = strings.TrimRight(password, "\r\n"); password != "" {
				*to, found = append(*to, password), true
			}
		}
		if !found {
			// As with env: without a password redlockd would let everybody in.
			return "a file with a password in it"
		}
		return ""
	}
}

// operationsTo takes a list of names of operations.
func operationsTo(to *commands.Operations) func(cty.Value) string {
	return func(v cty.Value) string {
		var names []string
		expected := `a list of some of "` + strings.Join(commands.OperationNames(), `", "`) + `"`
		if stringsTo(&names, "")(v) != "" {
			return expected
		}
		for _, name := range names {
			op, ok := commands.Operation(name)
			if !ok {
				return fmt.Sprintf("%s, not %q", expected, name)
			}
			*to |= op
		}
		return ""
	}
}

// open reports whether everybody may do everything, because there is no password.
func open(p proxy.Config) bool { return len(p.Passwords) == 0 && len(p.Users) == 0 }
