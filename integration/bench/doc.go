// Command bench measures redlockd beside what people use without it: one
// Redis directly, redsync over five masters, and another lock library.
//
// It starts every server itself: one redis-server, as many masters as a
// workload needs, and redlockd, built from this tree. Then the contenders do
// the same work by turns, in rounds, so that a busy machine is busy for all;
// a figure is the median of its rounds, and a ratio is the median of the
// rounds' ratios. The clients run in this process, on the same cores as the
// servers, and the processor time of each part is taken from the system.
//
//	make bench                                  # all workloads, about ten minutes
//	make bench BENCH='-only a,d -rounds 3'      # two of them, briefly
//	make pgo                                    # profile.go: the profile for the compiler
//
// The workloads are named as in docs/performance.md:
//
//	a  cycles.go  lock and release on own keys, 1 to 512 clients
//	b  hot.go     one key that many poll for
//	c  idle.go    10,000 idle sessions beside busy ones
//	d  faults.go  one of five masters dead, frozen or slow
//	e  far.go     masters a millisecond away
//	f  held.go    a million locks held
//
// It prints the tables and which aims are met, and writes results.md,
// results.json and the charts into a folder.
//
// It is a module of its own, so that the server does not depend on what is
// compared with it or on what draws the charts.
package main
