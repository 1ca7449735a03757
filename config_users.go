package main

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy"
)

// maxPasswordFile bounds a password_file in bytes.
const maxPasswordFile = 64 << 10

// user takes a block user of listen.
func (d *decoder) user(cfg *config) inner {
	return func(block *hcl.Block) {
		u := proxy.User{Name: block.Labels[0]}
		d.attributesAt(userBlock(u.Name), block, []setting{
			{"password", passwords(&u.Passwords)},
			{"password_file", passwordFile(&u.Passwords)},
			{"keys", texts(&u.Keys)},
			{"channels", texts(&u.Channels)},
			{"operations", operations(&u.Operations)},
		}, nil, nil)
		cfg.proxy.Users = append(cfg.proxy.Users, u)
	}
}

func userBlock(name string) string { return "listen.user." + name }

// passwords is one password or several, any of which will do: so one can be
// changed while clients still send the old one. An empty one is none.
func passwords(to *[]string) func(cty.Value) string {
	return func(v cty.Value) string {
		var one string
		if text(&one)(v) == "" {
			if one != "" {
				*to = append(*to, one)
			}
			return ""
		}
		var list []string
		if texts(&list)(v) != "" {
			return "a string in quotes, or a list of them"
		}
		*to = append(*to, list...)
		return ""
	}
}

// passwordFile is the name of a file that has a password in each line.
func passwordFile(to *[]string) func(cty.Value) string {
	return func(v cty.Value) string {
		var name string
		if text(&name)(v) != "" {
			return "the name of a file in quotes"
		}
		source, err := readBounded(name, maxPasswordFile)
		if err != nil {
			return "a file that can be read: " + err.Error()
		}
		found := false
		for line := range strings.Lines(string(source)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				*to, found = append(*to, line), true
			}
		}
		if !found {
			// As with env: without a password everybody would be let in.
			return "a file with a password in it"
		}
		return ""
	}
}

// operations is a list of names of operations.
func operations(to *commands.Operations) func(cty.Value) string {
	return func(v cty.Value) string {
		var names []string
		expected := `a list of some of "` + strings.Join(commands.OperationNames(), `", "`) + `"`
		if texts(&names)(v) != "" {
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

// open reports whether everybody may do everything: there is no password.
func open(p proxy.Config) bool { return len(p.Passwords) == 0 && len(p.Users) == 0 }
