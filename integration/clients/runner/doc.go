// Command runner is the client bench: it runs real lock clients from their
// packages and says whether redlockd looks to them like the one Redis they
// were written for.
//
// Each folder beside it is a language: a bench.json (Bench) that says how to
// install its packages and which programs there are, and a small program for
// each library. A program takes host, port and a prefix for its keys, and
// prints a JSON object for each step, {"step": result}. BENCH_ELSEWHERE has the
// address of another redlockd over the same masters, for contests that two of
// them decide; where the target is one Redis, it is that one. The runner runs it
// against one redis-server, against redlockd over five masters, and against
// redlockd over five masters of which two are dead, and compares step by step.
//
// A library that redlockd cannot serve has its program too, with what redlockd must answer:
// so the report tells only reasons that were seen, and a library that is served after all is
// noticed.
//
// Everything a program says passes a Recorder. It keeps the scripts, whose
// meaning the report tells, and with -trace every command and reply, which is
// what one looks at when a row differs.
//
//	go run ./integration/clients/runner                # what is installed
//	go run ./integration/clients/runner -install       # get all packages first
//	go run ./integration/clients/runner -only redsync -trace /tmp/trace
//
// With -report FILE it writes the table, docs/clients.md. With -prepare it only
// installs and builds, for make front, whose programs are beside the others.
package main
