package commands

// Spec describes one command as COMMAND tells it.
type Spec struct {
	// Name is in lower case; of a subcommand it is "script|load".
	Name string
	// Arity counts the name; -n means n or more.
	Arity int
	Flags []string
	// First, Last and Step say which arguments are keys; Last -1 is the last
	// argument, all 0 is none or not known from the place.
	First, Last, Step int
	// Subcommands are those of SCRIPT.
	Subcommands []Spec

	run func(call) Request
	// needs is what the command needs whatever its operations are.
	needs Operations
	// token is the argument that is stored as a token, if it is one; 0 is none.
	token int
}

// Table lists the commands of this room. Callers must not change it.
func Table() []Spec { return table }

var (
	write  = []string{"write"}
	quick  = []string{"write", "fast"}
	stores = []string{"write", "denyoom"}
	takes  = []string{"write", "denyoom", "fast"}
	reads  = []string{"readonly", "fast"}
	runs   = []string{"noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	looks  = []string{"readonly", "noscript", "stale", "skip_monitor", "no_mandatory_keys", "movablekeys"}
	loads  = []string{"noscript", "stale"}
	tells  = []string{"noscript"}
	kills  = []string{"noscript", "allow_busy"}
	helps  = []string{"loading", "stale"}
)

var table = []Spec{
	{Name: "set", Arity: -3, Flags: stores, First: 1, Last: 1, Step: 1, run: set, token: 2},
	{Name: "setnx", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, run: setnx, token: 2},
	{Name: "setex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, run: setex, token: 3},
	{Name: "psetex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, run: psetex, token: 3},
	{Name: "getset", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, run: getset, needs: MayRead, token: 2},
	{Name: "getdel", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, run: getdel, needs: MayRead},

	{Name: "get", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: get},
	{Name: "mget", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, run: mget},
	{Name: "exists", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, run: exists},
	{Name: "touch", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, run: exists},
	{Name: "ttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: ttl},
	{Name: "pttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: pttl},
	{Name: "expiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: expiretime},
	{Name: "pexpiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: pexpiretime},
	{Name: "strlen", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: strlen},
	{Name: "type", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, run: typ},

	{Name: "del", Arity: -2, Flags: write, First: 1, Last: -1, Step: 1, run: del},
	{Name: "unlink", Arity: -2, Flags: quick, First: 1, Last: -1, Step: 1, run: del},
	{Name: "delex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, run: delex},
	{Name: "delifeq", Arity: 3, Flags: quick, First: 1, Last: 1, Step: 1, run: delifeq},

	{Name: "expire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, run: expire},
	{Name: "pexpire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, run: pexpire},
	{Name: "expireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, run: expireat},
	{Name: "pexpireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, run: pexpireat},
	{Name: "persist", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, run: persist},

	{Name: "eval", Arity: -3, Flags: runs, run: eval},
	{Name: "evalsha", Arity: -3, Flags: runs, run: evalsha},
	{Name: "eval_ro", Arity: -3, Flags: looks, run: eval},
	{Name: "evalsha_ro", Arity: -3, Flags: looks, run: evalsha},
	{Name: "script", Arity: -2, Subcommands: []Spec{
		{Name: "script|load", Arity: 3, Flags: loads, run: scriptLoad},
		{Name: "script|exists", Arity: -3, Flags: tells, run: scriptExists},
		{Name: "script|flush", Arity: -2, Flags: tells, run: scriptFlush, needs: MayAdmin},
		{Name: "script|kill", Arity: 2, Flags: kills, run: scriptKill, needs: MayAdmin},
		{Name: "script|debug", Arity: 3, Flags: tells, run: scriptDebug},
		{Name: "script|help", Arity: 2, Flags: helps, run: scriptHelp},
	}},
}

var byName = func() map[string]*Spec {
	m := make(map[string]*Spec, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}()

// lookup finds a command by its name in any case, without allocating; nil if
// there is none.
func lookup(name []byte) *Spec {
	var lower [16]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, c := range name {
		lower[i] = toLower(c)
	}
	return byName[string(lower[:len(name)])]
}

// resolve is the command, or the subcommand of it, that args call, or why they
// cannot: an unknown subcommand, a wrong number of arguments.
func (s *Spec) resolve(args [][]byte) (*Spec, string) {
	if !s.takes(len(args)) {
		return nil, wrongArity(s.Name)
	}
	if s.Subcommands == nil {
		return s, ""
	}
	for i := range s.Subcommands {
		sub := &s.Subcommands[i]
		if !is(args[1], sub.Name[len(s.Name)+1:]) {
			continue
		}
		if !sub.takes(len(args)) {
			return nil, wrongArity(sub.Name)
		}
		return sub, ""
	}
	return nil, unknownSubcommand(s.Name, args[1])
}

func (s *Spec) takes(n int) bool {
	if s.Arity < 0 {
		return n >= -s.Arity
	}
	return n == s.Arity
}
