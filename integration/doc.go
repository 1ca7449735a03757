// Package integration tests redlockd as its users meet it: the built binary,
// with a real config.hcl, over real redis-server processes, driven by real
// clients and disturbed by real faults. It knows nothing of redlockd's
// packages.
//
// Every test starts its own servers, with package rig.
//
// Two questions are asked everywhere: does redlockd answer as one Redis would
// (same_test.go, replay_test.go, clients_test.go), and does a lock stay what
// was promised whatever happens to a minority of masters (the other files).
//
// The tests need redis-server and redis-cli, and redis-py for a python3 (or
// for the interpreter that REDLOCKD_PYTHON names). `make deps` gets them.
// REDIS_SERVER names another server for the masters; what is compared is
// always redis-server.
package integration
