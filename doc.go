// Command redlockd serves the Redis protocol and keeps locks on a majority of
// independent Redis or Valkey masters (the Redlock algorithm).
//
// This package only connects the others. It has the flags (flags.go), the start and stop
// (main.go, serve.go, announce.go), the reload of the configuration (reload.go), the
// embedded masters of -dev (embedded.go), what the process asks of its system: a log that
// nobody waits for (log_writer.go), descriptors for all (descriptors.go), and memory
// ballast, which makes garbage collection less frequent (collector.go).
//
// The others are internal/config (the configuration file), internal/certificates (blocks
// tls), internal/admin (the address for operators) with its page in status, proxy
// (connections), commands (what clients ask for) and quorum (what the masters agree on).
package main
