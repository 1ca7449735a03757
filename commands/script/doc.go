// Package script says what a Lua script does to a lock.
//
// A lock client sends its compare-and-delete as a Lua script, in a wording of
// its own. A Library keeps the scripts under their SHA1, and Understand turns
// one call of a script into a Meaning: release, extend, acquire, read, with
// the reply for every state the key can be found in.
//
// A script is run by an interpreter (package lua, which knows nothing of Redis)
// against a model of one lock (key.go), once for every state that matters. In
// those runs KEYS, ARGV and the stored value are sealed: symbols (symbol.go,
// host.go) that can be compared with each other, stored, and used as an
// expiry, and nothing else. What was learned so holds for every call of the
// same form (form.go). A script that looks into a sealed input has it
// revealed: from then on its bytes are a part of the form, and the runs start
// again (prove.go); what was learned is kept in recall.go.
//
// Where no proof is found, the meaning is PerCall: the same interpreter runs
// the script on real values, once for what was found (percall.go). Such a call
// may use several keys; dry runs find out which. Transact runs the commands of
// a transaction in the same way, so there is one model of what commands do
// (keycommands.go, transact.go).
//
// Besides, a script may publish, and fill a list that wakes somebody: that is
// a notice (publish.go), for whoever waits through this process, and no master
// sees it.
//
// The files:
//
//   - script.go: what a Meaning is; chunk.go: a script that compiled; library.go: the
//     scripts and Understand; recall.go, form.go and lru.go: what is remembered of
//     them; meaning.go: from what is remembered to a Meaning;
//   - prove.go: the proof; percall.go, transact.go and sweep.go: runs on real values;
//     execute.go: a run from its start to its end; run.go: what a run knows;
//   - symbol.go: sealed values; host.go: what the interpreter may know of them;
//     space.go, key.go and notice.go: the model of the keys and of those who wait;
//   - redislib.go: redis.call and what else a script finds; keycommands.go: the table
//     of commands, with setcommands.go, expire.go, conditions.go and publish.go;
//     touch.go and arguments.go: how commands work on keys and read their
//     arguments; reply.go: from a Lua value to a reply.
//
// The package does no I/O and asks no clock. A script can do no harm: it
// reaches nothing but the model, and its steps, its memory and its depth are
// bounded (lua.Budget).
package script
