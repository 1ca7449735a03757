// Package rig is what the tests of integration/ stand on: real redis-server
// processes, the network between them and redlockd, and redlockd itself, the
// built binary with a real config.hcl. It knows nothing of redlockd's
// packages.
//
// A Master is one redis-server that can be killed, frozen, thawed and
// restarted, with its disk or empty, and whose disk can be full. A Link is a network in front of it that
// can be slow, each way or one, stalled and cut (toxiproxy). A Mover is an
// address that moves to another server. A Redlockd is the process under
// test, over what its Config says. All of them belong to a test, end with it,
// and fail it when they do not do as they are told; redlockd must end with
// exit code 0.
//
// A test's TestMain calls Main, which keeps the binary for the length of the
// run. REDLOCKD_BINARY names another one to test, and REDIS_SERVER the program
// of the masters, if it is not redis-server.
package rig
