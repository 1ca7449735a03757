// Command redlockd serves the Redis protocol and keeps locks on a majority of
// independent Redis or Valkey masters (the Redlock algorithm).
//
// This package only puts the others together. It has the flags (flags.go), the
// start and stop (main.go, serve.go, announce.go), the change of the
// configuration while redlockd runs (reload.go), the embedded masters of -dev
// (embedded.go), and how often garbage is collected (collector.go).
//
// The others are internal/config (what the file says), internal/certificates
// (blocks tls), internal/admin (the address for operators) with its page in
// status, proxy (connections), commands (what was asked) and quorum (who
// agreed).
package main
