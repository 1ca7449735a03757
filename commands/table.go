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

	// May are the operations that the command may mean, for ACL CAT. What it
	// turns out to need besides is refused to every user with limits.
	May Operations

	run func(call) Request
	// needs is what the command needs whatever its operations are; a part of
	// May.
	needs Operations
	// like is a command whose denial (Config.Deny) is this one's too.
	like string
	// token is the argument that is stored as a token, if it is one; 0 is none.
	token int
}

// Table lists the commands of this package. Callers must not change it.
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

// What commands may mean. Under WATCH what names no token is conditional, and
// a time that is over deletes.
const (
	mayStore  = MayRemove | MayAcquire | MayExtend
	mayDelete = MayRemove | MayRelease
	mayExpire = MayRemove | MayExtend | MayRelease
	mayScript = MayAll &^ MayAdmin
)

var table = []Spec{
	{Name: "set", Arity: -3, Flags: stores, First: 1, Last: 1, Step: 1, May: MayAcquire | MayExtend | MayRead | MayRemove, run: set, token: 2},
	{Name: "setnx", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, May: MayAcquire, run: setnx, token: 2},
	{Name: "setex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, May: mayStore, run: setex, token: 3},
	{Name: "psetex", Arity: 4, Flags: stores, First: 1, Last: 1, Step: 1, May: mayStore, run: psetex, token: 3},
	{Name: "msetnx", Arity: -3, Flags: stores, First: 1, Last: -1, Step: 2, May: MayAcquire, run: msetnx},
	{Name: "msetex", Arity: -4, Flags: stores, May: MayAcquire | MayRemove, run: msetex, like: "set"},
	{Name: "getset", Arity: 3, Flags: takes, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getset, needs: MayRead, token: 2},
	{Name: "getdel", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getdel, needs: MayRead},

	{Name: "get", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: get},
	{Name: "getex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRead | MayRemove, run: getex, like: "pexpire"},
	{Name: "digest", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: digest},
	{Name: "mget", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: mget},
	{Name: "exists", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: exists},
	{Name: "touch", Arity: -2, Flags: reads, First: 1, Last: -1, Step: 1, May: MayRead, run: exists},
	{Name: "ttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: ttl},
	{Name: "pttl", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: pttl},
	{Name: "expiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: expiretime},
	{Name: "pexpiretime", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: pexpiretime},
	{Name: "strlen", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: strlen},
	{Name: "type", Arity: 2, Flags: reads, First: 1, Last: 1, Step: 1, May: MayRead, run: typ},

	{Name: "del", Arity: -2, Flags: write, First: 1, Last: -1, Step: 1, May: mayDelete, run: del},
	{Name: "unlink", Arity: -2, Flags: quick, First: 1, Last: -1, Step: 1, May: mayDelete, run: del},
	{Name: "delex", Arity: -2, Flags: quick, First: 1, Last: 1, Step: 1, May: mayDelete, run: delex},
	{Name: "delifeq", Arity: 3, Flags: quick, First: 1, Last: 1, Step: 1, May: MayRelease, run: delifeq},

	{Name: "expire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: expire},
	{Name: "pexpire", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: pexpire},
	{Name: "expireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: expireat},
	{Name: "pexpireat", Arity: -3, Flags: quick, First: 1, Last: 1, Step: 1, May: mayExpire, run: pexpireat},
	{Name: "persist", Arity: 2, Flags: quick, First: 1, Last: 1, Step: 1, May: MayExtend | MayRemove, run: persist},

	{Name: "eval", Arity: -3, Flags: runs, May: mayScript, run: eval},
	{Name: "evalsha", Arity: -3, Flags: runs, May: mayScript, run: evalsha},
	{Name: "eval_ro", Arity: -3, Flags: looks, May: MayRead, run: eval},
	{Name: "evalsha_ro", Arity: -3, Flags: looks, May: MayRead, run: evalsha},
	{Name: "script", Arity: -2, Subcommands: []Spec{
		{Name: "script|load", Arity: 3, Flags: loads, run: scriptLoad},
		{Name: "script|exists", Arity: -3, Flags: tells, run: scriptExists},
		{Name: "script|flush", Arity: -2, Flags: tells, May: MayAdmin, run: scriptFlush, needs: MayAdmin},
		{Name: "script|kill", Arity: 2, Flags: kills, May: MayAdmin, run: scriptKill, needs: MayAdmin},
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
