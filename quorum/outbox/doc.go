// Package outbox holds the tasks that wait for one master, builds the commands that
// carry them there, and interprets the master's answers. It depends neither on the
// masters nor on the attempts that get the votes. Below it a copy is a token with its tail
// (package tail); its callers see tokens. The rules that comments cite (V8, M2) are defined
// in docs/design.md.
//
// A [Task] (task.go) is an attempt's part for one master, or what follows the verdict:
// its rollback, repeat, heal or shortening. An [Effect] (effect.go) is what it does to
// one key. [Asked] (asked.go) is who gets the votes; page.go is a step through a master's keys.
//
// Tasks wait in the [Outbox] (outbox.go), which determines when the next batch is worth
// sending (pace.go): it waits no longer than a tenth of timeout. Rollbacks and repeats are
// kept until they have arrived, and go out before what is put in later for their key (kept.go).
//
// A [Batch] (batch.go) of tasks is sent in a connection's [Dialect] (request.go). A plain task, an
// acquire or a release that depends on nothing but its key and token, has arguments that are cut
// out of one string (arguments.go), and several plain releases go as a single script call
// (bundle.go). answer.go turns the master's answers into votes, and tells by its clock which
// copies are over (V15).
package outbox
