// Package faults looks for a lock that two clients have: real redis-server
// masters, several redlockd over links of their own, many clients, and faults
// drawn from a seed that is logged. It drives the built binary and knows
// nothing of redlockd's packages.
//
// Every call goes into a history with the times of its sending and its
// arrival (history_test.go). Two checks read it: holders_test.go counts
// certain holders by time, model_test.go asks porcupine whether the answers
// on a key are those of one lock. A client holds for certain from the arrival
// of its OK until the sending of the request + TTL, or until a release or an
// extend that shortens was sent.
//
// What chance seldom meets is led up to in directed_test.go, and shows_test.go
// has the promises that are counted: contests, freezes, restarts of all.
//
// The environment: SEED repeats a run's draws, MINUTES makes it long, CLIENTS
// sets how many; ROUNDS, FREEZES and MOVING (seconds) make the shows long;
// TRACE=1 keeps what each master was told (MONITOR) and shows it with a
// violation, KEEP=1 keeps the logs of a failed run, REDLOCKD_BINARY tests
// another binary, QUORUM adds a line to the quorum block of its configuration.
package faults
