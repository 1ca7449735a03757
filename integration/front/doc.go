// Package front stops one of three redlockd while real clients use them through
// one address, and measures what the clients notice: `make front`. In go test
// without -rounds only the judge is tested, because the rest needs HAProxy,
// Envoy, Node, Java and half an hour.
//
// A means is what leads clients to a redlockd: the files of packaging/haproxy
// and packaging/envoy with the addresses of the test, or a list of addresses.
// A client is a program of integration/clients that takes HOST PORT PREFIX,
// takes and releases PREFIXwanted, for which the test contends through another
// redlockd, and extends PREFIXheld, which the test tries to take. It prints a
// line for each call, "KIND SENT ANSWERED 1|0|ERROR" with times in milliseconds
// of the Unix clock, until its input ends.
//
// StackExchange.Redis cannot be had from a registry that every machine reaches,
// so FRONT_DOTNET names a program that takes a connection string and the part
// to run, and prints a line "STEP => RESULT" for each call, or "STEP => EX ..."
// for one that failed. The part "conditions" makes twenty calls that take, read,
// change and release a lock, one after the other. The masters are 20 ms away
// meanwhile, so that they last long enough. In the part "medallion" the lock
// "mdx" of 3 s is extended for 4 s, and then 20 tasks contend.
package front
