// Package config reads the file that redlockd is configured by, which is HCL.
// No other package knows HCL.
//
// [Load] makes a [Config] of a file: what each package wants, in its own Config,
// and what belongs to the process (config.go). On the way there, blocks.go says
// which blocks and settings there are, values.go what kinds of values, users.go
// who may do what, and decode.go takes the file apart by that. check.go then
// finds what is wrong with the values and their relations. All problems are
// told at once, with their lines, by an [Error] (error.go).
//
// [NeedsRestart] says which changes of a file wait for a start (restart.go), and
// Config.WriteSummary is what -check prints (summary.go).
package config
