// Package config reads redlockd's configuration file, which is HCL. No other package
// knows HCL.
//
// [Load] makes a [Config] of a file: the Config of each package, and the settings of the
// process itself (config.go). blocks.go lists the blocks and settings, values.go the
// kinds of values, users.go the users' settings, and decode.go decodes the file with
// them. check.go then checks the values and their relations, check_listen.go and
// check_admin.go those of these blocks. An [Error] reports all
// problems at once, with their lines (error.go).
//
// [NeedsRestart] returns the changes of a file that need a restart (restart.go), and
// Config.WriteSummary writes the output of -check (summary.go).
package config
