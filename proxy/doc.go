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
// Commands of the connection are functions of a session: a row of the table names
// them, and nothing else does. What sessions share, and what knows no session, are
// packages of their own:
//
//   - proxy/replies: the queue of replies, their order and their writing;
//   - proxy/users: who may log in, and what each may do;
//   - proxy/notify: messages and signal lists, for those who wait;
//   - proxy/history: what is remembered for people who look;
//   - proxy/memory: what sessions hold of the memory that they share;
//   - proxy/epoll: how parked sessions are woken.
//
// The files:
//
//   - the server: proxy.go, server.go (start, accept, stop), roster.go (the open
//     sessions), config.go, limits.go, bounds.go (who must go where there are too many
//     or too much), reload.go, conn.go (a connection before it is a session);
//   - a session: session.go (reading), dispatch.go (what a command is), lifecycle.go
//     (parked, stopped, ended), waiting.go (how long it may be silent), park.go;
//   - what it is made of: login.go (who it is), transaction.go (MULTI and WATCH),
//     client_info.go (what it shows of itself);
//   - the table of commands: table.go, access.go (who may send which), local.go (the
//     rows), unknown.go (what is refused);
//   - commands of the connection: connection.go, auth.go (AUTH, HELLO), acl.go,
//     client.go and client_list.go (CLIENT), config_get.go, introspect.go (COMMAND),
//     info.go with cpu_unix.go and cpu_other.go, text.go (words that they share);
//   - transactions: exec.go;
//   - messages and lists: pubsub.go, blocking.go (BLPOP, LLEN), notices.go (what a
//     release tells);
//   - listings: sweep.go (asking the masters), scan.go, locks.go;
//   - for people who look: slowlog.go (SLOWLOG), look.go (the admin address).
package proxy
