// Package scripts contains the scripts that redlockd runs on the masters. Each is a text
// with its SHA1, and runs atomically on a master. The rules that comments cite (V6, M3)
// are defined in docs/design.md.
//
// The scripts for locks are in scripts.go, composed of the parts in script_parts.go, which
// cut a copy as package tail writes it; the one for several keys at once is [Transact]
// (transact.go). Many plain tasks at once are one call of [Bundle] (bundle.go). The scripts
// that write marks are in mark_scripts.go. Package outbox sends the scripts for locks and
// reads their answers, package cluster those for marks.
package scripts
