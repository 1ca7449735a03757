// Package scripts has the scripts that redlockd runs on the masters: texts, each with its
// SHA, and each atomic on a master. The rules that comments cite (V6, M3) are defined in
// docs/design.md.
//
// Those for locks are in scripts.go, made of the parts in script_parts.go; many plain
// tasks at once are one call of [Bundle] (bundle.go); those that write marks are in
// mark_scripts.go. When each is sent, and what its answer means, package quorum knows.
package scripts
