package proxy

import (
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/users"
)

// access is what a user needs for a command of the connection. The zero value needs
// MayAdmin, so a new command stays closed until its row opens it.
type access struct {
	// open allows every user: the command tells nothing of locks and changes only the
	// session, or only the keys and channels that it names are checked.
	open  bool
	needs commands.Operations
	// keys and channels are the arguments that name keys and channels.
	keys, channels places
	// patterns reports whether the channels are patterns.
	patterns bool
}

// The rights of most commands.
var (
	everybody = access{open: true}
	reader    = access{needs: commands.MayRead}
	admin     = access{needs: commands.MayAdmin}
)

// need returns the operations that a user must be allowed. ACL CAT shows it.
func (a access) need() commands.Operations {
	if !a.open && a.needs == 0 {
		return commands.MayAdmin
	}
	return a.needs
}

// places are the arguments from index from on, without the last tail of them: {1, 0} is
// all behind the name. The zero value is none.
type places struct{ from, tail int }

func (p places) of(args [][]byte) [][]byte {
	if p.from == 0 || len(args) < p.from+p.tail {
		return nil
	}
	return args[p.from : len(args)-p.tail]
}

// mayMean lists the commands that may need one of the operations, for ACL CAT.
func mayMean(ops commands.Operations) []string {
	names, local := commands.MayMean(ops), []string(nil)
	for _, c := range localCommands {
		if len(c.subs) == 0 && c.need()&ops != 0 {
			local = append(local, c.name)
		}
		for name, sub := range c.subs {
			if sub.need()&ops != 0 && !sub.refused() {
				local = append(local, c.name+"|"+name)
			}
		}
	}
	slices.Sort(local)
	return append(names, local...)
}

// noRightTo returns the error text with which a command of the connection is refused to
// the user, in the order of Redis's checks, or "". An unknown subcommand needs the rights
// of its command.
func noRightTo(u *users.Account, name string, args [][]byte) string {
	if u.Unlimited() {
		return ""
	}
	c := locals[name]
	a := c.access
	if c.subs != nil && len(args) > 1 {
		word := strings.ToLower(resp.Clean(args[1], 32))
		name += "|" + word
		if sub, known := c.subs[word]; known {
			a = sub.access
		}
	}
	if !u.May(a.need()) {
		return commands.NoPermCommand(name)
	}
	return noRightToNames(u, a, args)
}

// noRightToNames returns the error text if the user may not name one of the keys or
// channels of a command, or "".
func noRightToNames(u *users.Account, a access, args [][]byte) string {
	for _, key := range a.keys.of(args) {
		if !u.Key(string(key)) {
			return commands.NoPermKey
		}
	}
	may := u.Channel
	if a.patterns {
		may = u.Pattern
	}
	for _, name := range a.channels.of(args) {
		if !may(string(name)) {
			return commands.NoPermChannel
		}
	}
	return ""
}
