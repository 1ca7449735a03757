// Package faults looks for a lock that two clients have: real redis-server
// masters, several redlockd over links of their own, many clients, and faults
// drawn from a seed that is logged. It drives the built binary and knows
// nothing of redlockd's packages.
//
// Every call goes into a history with the times of its sending and its
// arrival (history_test.go), and every fault with its beginning and its end
// (trouble_test.go). Three checks read them: holders_test.go counts certain
// holders by time, causes_test.go asks of each answer what may stand behind it,
// model_test.go asks porcupine whether the answers on a key are those of one
// lock, with one holder and, in a hash, one count (counted_test.go). A client
// holds for certain from the arrival of its OK until the sending of the request +
// TTL, and until the OK's leaving redlockd + TTL if that did not stand still, or
// until a release or an extend that shortens was sent.
//
// No answer is excused without a cause that has a name and an end: a call whose
// answer nobody knows excuses while its hold may last or until it is known to be
// undone, a fault while it lasts and for its aftermath. A run ends with a table
// of the answers by their causes.
//
// What is free when a fault is drawn differs from run to run, so a seed does not
// repeat the faults. They are recorded as they are carried out, and a run that
// fails says where: SCHEDULE=file repeats them, each at its time with its targets.
//
// A NOQUORUM needs a cause of the last three seconds. An EXEC is judged by what was
// changed since its WATCH (watched_test.go), and strings that several hold by who
// was told to be in (members_test.go). What is known to be wrong is no violation, and
// counted under its name (gap).
//
// What the masters carry out is recorded, too (executed_test.go), and told with a
// violation (account_test.go).
//
// What chance seldom meets is led up to in directed_test.go, disks_test.go,
// moved_test.go and settings_test.go, and shows_test.go has the promises that
// are counted: contests, freezes, restarts of all.
//
// The environment: SEED repeats a run's draws and SCHEDULE its faults, MINUTES
// makes it long, CLIENTS sets how many; ROUNDS, FREEZES, MOVING (seconds) and
// RESTARTS make the shows long; KEEP=1 keeps the logs of a failed run,
// REDLOCKD_BINARY tests another binary, WITHOUT leaves out clients by commas,
// QUORUM adds a line to the quorum block of its configuration.
package faults
