// Package fakeredis is what the tests of redlockd's votes have for Redis: servers and a network in
// virtual time (testing/synctest), with the faults of both. It carries out the commands and scripts
// that redlockd sends to a master, and answers them in RESP3. Only tests may import it.
//
// A [World] is a network and its servers. A [Server] (server.go) has keys, a clock and a process
// that can end, stand still and come back with an older disk; serving.go takes commands off its
// connections, commands.go, channels.go and lua.go carry them out, replies.go has the answers. faults.go has
// what a test can set on one server. trails.go remembers what its keys held: for older disks, and
// for a judge who asks whether an answer was true.
//
// A [Wire] (network.go) is the way from one instance to one server: its Dial goes into
// cluster.Master. Each direction has a delay and can be stalled; pipe.go is one connection.
//
// What redlockd does not use is not there; that real servers behave alike, integration/ checks.
package fakeredis
