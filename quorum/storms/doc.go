// Package storms is the simulator, and all of it is tests: TestStorm runs the real package quorum
// over servers and a network in virtual time (quorum/fakeredis) with random faults, and a judge
// asks of each answer that a client hears whether it may be true.
//
// A storm (storm_test.go) has a shape, which is drawn from its seed like everything in it
// (shape_test.go); nodes, the redlockd through all their lives (node_test.go) with clocks of their
// own (pendulum_test.go); clients (client_test.go, call_test.go); and sources of faults
// (faults_test.go): masters_test.go, clocks_test.go and lists_test.go have those of masters,
// clocks and the list of masters. Other files lead up to what chance seldom meets, and are named
// after it.
//
// The judge notes what clients were answered (judge_test.go) and gives the verdicts
// (verdicts_test.go), with the excuses for what is known and stated; told_test.go, exec_test.go,
// members_test.go, counts_test.go and trouble_test.go judge tokens that are told, EXEC on watched keys
// (watch_test.go), strings with several holders, counts of locks in hashes (hashes_test.go), and
// NOQUORUM. calm_test.go checks the state that a storm leaves.
//
// How to run many, and one again: CONTRIBUTING.md.
package storms
