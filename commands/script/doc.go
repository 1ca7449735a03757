// Package script finds out what a Lua script does to a lock.
//
// A lock client sends its compare-and-delete as a Lua script, in a wording of its own. A
// Library keeps the scripts by their SHA1, and Understand turns one call of a script into
// a Meaning: release, extend, acquire or read, with the reply for every state in which
// the key can be found.
//
// Package lua, an interpreter without knowledge of Redis, runs the script against a model
// of one lock (key.go), once for every state that matters. In these runs KEYS, ARGV and
// the stored value are sealed: symbols (symbol.go, host.go) that can be compared with
// each other, stored, and used as an expiry, and nothing else. So the result holds for
// every call of the same form (form.go). If a script looks into a sealed input, that
// input is revealed: from then on its bytes are a part of the form, and the runs start
// again (prove.go). recall.go remembers the results.
//
// If no proof is found the meaning is PerCall: the same interpreter runs the script on
// real values, once for the states found (percall.go). Such a call may use several keys;
// dry runs find out which. Transact runs the commands of a transaction in the same way,
// so there is one model of what commands do (keycommands.go, transact.go).
//
// A hash is in the model what the masters have, one string (package values), and only the
// commands on hashes look into it.
//
// A script may also publish, and push to a list that wakes a waiting client: these are
// notices (publish.go). They reach the clients of this process and no master.
//
// The files:
//
//   - script.go: what a Meaning is; chunk.go: a compiled script; library.go: the
//     scripts and Understand; recall.go, form.go and lru.go: what is remembered of
//     them; meaning.go: from what is remembered to a Meaning;
//   - prove.go: the proof; percall.go, transact.go and sweep.go: runs on real values;
//     dryruns.go: which keys these use, prolongs.go: which only prolong them; effect.go: what
//     they did; execute.go: a run from its start to its end; run.go: the state of a run;
//   - symbol.go: sealed values; host.go: what the interpreter may learn of them;
//     space.go, key.go and notice.go: the model of the keys and of the notices;
//   - redislib.go: redis.call and the other globals, of which cjson is a package of
//     its own; keycommands.go: the table of commands, with setcommands.go, expire.go,
//     conditions.go, hash.go and publish.go; latch.go: keys that are on no master; touch.go and arguments.go: how commands access
//     keys and read their arguments; reply.go: from a Lua value to a reply.
//
// The package does no I/O and uses no clock of its own. A script can do no harm: it
// reaches nothing but the model, and its steps, its memory and its depth are bounded
// (lua.Budget).
package script
