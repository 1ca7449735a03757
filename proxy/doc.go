// Package proxy serves Redis clients: it accepts their connections, reads
// their commands, and writes their replies in order. What a lock command
// means is told by package commands, who holds a lock by package quorum.
//
// A [Server] owns the sessions. A session's reading goroutine takes one frame
// after the other (package resp), and gives every command a slot in a bounded
// queue (package replies). Commands of the connection (PING, HELLO, SUBSCRIBE ...)
// are answered at once from a table (local.go); lock commands go to [Quorum],
// side by side, and fill their slot when the outcome arrives. The replies are written
// in order by package replies. A session that waits for its next command is parked
// after a second: it has no goroutine until an epoll tells that there is something to
// read (park.go; on Linux, without TLS).
//
// What a release has to say besides (commands.Notice) goes to the subscribers and to
// those who wait for a list of this redlockd (package notify; pubsub.go, blocking.go).
//
// What people look at is asked of the masters (LOCKS and SCAN, locks.go,
// scan.go), or remembered of what went through here (package history).
//
// The files:
//
//   - the server: proxy.go, server.go (start, accept, stop), config.go, limits.go,
//     memory.go (what sessions are charged for, by package memory), pending.go (connections that have
//     not logged in), reload.go;
//   - a session: session.go (reading), dispatch.go (what a command is), waiting.go
//     (how long it may be silent), ending.go, park.go with epoll_linux.go and
//     epoll_other.go;
//   - what it is made of: buffers.go (what the system holds for a client), text.go;
//   - who may do what: auth.go, access.go, acl.go, and package users;
//   - commands of the connection: local.go (the table), subcommands.go, hello.go,
//     client.go and client_info.go (CLIENT), config_get.go, introspect.go (COMMAND),
//     info.go with cpu_unix.go and cpu_other.go, unknown.go (what is refused);
//   - transactions: transaction.go, mixed.go (commands of the connection beside
//     lock commands);
//   - messages and lists: pubsub.go, blocking.go, lists.go;
//   - listings: scan.go, locks.go, sweep.go;
//   - for people who look: slowlog.go (SLOWLOG), look.go (the admin address).
package proxy
