// Command redlockd serves the Redis protocol and keeps locks on a majority of
// independent Redis or Valkey masters (the Redlock algorithm).
//
// This package holds what belongs to the process: flags (flags.go), the
// configuration file (config*.go) and its change while redlockd runs
// (reload.go), the embedded masters of -dev (embedded.go), the address for
// operators (admin*.go, metrics.go), and the start and stop of the packages
// (serve.go). The packages are proxy (connections), commands (what was asked),
// quorum (who agreed) and internal/certificates; this package only puts them
// together. HCL and Prometheus are spoken here and
// nowhere else.
package main
