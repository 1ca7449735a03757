// Command redlockd serves the Redis protocol and keeps locks on a majority of
// independent Redis or Valkey masters (the Redlock algorithm).
//
// This package holds what belongs to the process: flags (flags.go), the change
// of the configuration while redlockd runs (reload.go), the embedded masters
// of -dev (embedded.go), the address for operators (admin*.go, metrics.go), and
// the start and stop of the packages (serve.go). The packages are
// internal/config (what the file says), internal/certificates, proxy
// (connections), commands (what was asked) and quorum (who agreed); this
// package only puts them together. Prometheus is spoken here and nowhere else.
package main
