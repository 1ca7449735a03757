// Package outbox has what one master is asked: the tasks that wait for it, the
// commands that they go out as, and what its answers mean. It knows neither the
// masters nor the attempts whose votes it brings back. The rules that comments cite
// (V8, M2) are defined in docs/design.md.
//
// A [Task] (task.go) is an attempt's part for one master, or what undoes it;
// [Asked] (asked.go) is what an attempt asks of all masters alike, limits.go which copies
// are over by the time it was asked, page.go a step through a master's keys.
//
// Tasks wait in the [Outbox] (outbox.go), which tells when the next batch is worth
// sending (pace.go). What may not have arrived is repeated (retries.go), and so is a
// change of a lock's token that one master has missed (changes.go).
//
// A [Batch] (batch.go) of them goes out by a connection's [Dialect] (request.go), many
// as one script where they are plain (bundle.go). answer.go makes votes of what the
// master answers.
package outbox
