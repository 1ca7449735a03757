// Package scripts contains the scripts that redlockd runs on the masters. Each is a text
// with its SHA1, and runs atomically on a master. The rules that comments cite (V6, M3)
// are defined in docs/design.md.
//
// What an operation does to locks is one script, [Change] (change.go): it says for each key what
// must be there, and what becomes of it. Acquires and releases have quicker ones, and reads their
// own (scripts.go); many releases at once are one call of [Bundle] (bundle.go). They
// cut a copy as package tail writes it. The scripts that write marks are in mark_scripts.go.
// Package outbox sends the scripts for locks and reads their answers, package cluster those for
// marks.
package scripts
