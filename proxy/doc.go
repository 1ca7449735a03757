// Package proxy serves Redis clients: it accepts their connections, reads their commands,
// and writes their replies in order. Package commands decides what a lock command means;
// package quorum asks the masters who holds a lock.
//
// A [Server] owns the sessions. A session's reading goroutine takes one frame after the
// other (package resp), and gives every command a slot in a bounded queue (package
// replies). Commands of the connection (PING, HELLO, SUBSCRIBE ...) are answered at once
// from a table (local.go). Lock commands go to [Quorum], side by side, and fill their
// slot when the outcome arrives. Package replies writes the replies in order. A session
// that has waited a second for its next command is parked: it has no goroutine until
// epoll reports that its socket has something to read (park.go; on Linux, without TLS).
//
// What a release publishes, or pushes to a list (commands.Notice), goes to the
// subscribers and the blocked clients of this redlockd (package notify; pubsub.go,
// blocking.go).
//
// What operators look at is asked of the masters (LOCKS and SCAN, locks.go, scan.go), or
// remembered from what this redlockd has answered (package history).
//
// Commands of the connection are functions of a session, called from nothing but their
// row of the table. State that sessions share, and code that needs no session, are
// packages of their own:
//
//   - proxy/replies: the queue of replies, their order and their writing;
//   - proxy/users: who may log in, and what each user may do;
//   - proxy/notify: messages for subscribers, and lists for blocked clients;
//   - proxy/history: what is remembered for operators;
//   - proxy/memory: how much each session holds of the memory that all share;
//   - proxy/epoll: how parked sessions are woken.
//
// The files:
//
//   - the server: proxy.go, server.go (start, stop), accept.go (a connection comes, or is
//     turned away), aside.go (no lock can be taken, so clients are sent elsewhere),
//     roster.go (the open sessions), config.go, limits.go, bounds.go (which
//     session is closed where there are too many, or too much memory is held), reload.go,
//     conn.go (a connection before it is a session);
//   - a session: session.go (reading), dispatch.go (what a command is), lifecycle.go
//     (parked, stopped, ended), waiting.go (how long it may be silent), park.go;
//   - parts of a session: login.go (its user), transaction.go (MULTI and WATCH),
//     client_info.go (what CLIENT LIST shows of it);
//   - the table of commands: table.go, access.go (who may send which), local.go (the
//     rows), unknown.go (what is refused);
//   - commands of the connection: connection.go, auth.go (AUTH, HELLO), acl.go,
//     client.go and client_list.go (CLIENT), config_get.go, introspect.go (COMMAND),
//     info.go with cpu_unix.go and cpu_other.go, text.go (words that they share);
//   - transactions: exec.go;
//   - messages and lists: pubsub.go, blocking.go (BLPOP, LLEN), notices.go (what a
//     release publishes);
//   - listings: sweep.go (asking the masters), scan.go, locks.go;
//   - for operators: slowlog.go (SLOWLOG), lost.go (locks that were lost), look.go and
//     one_lock.go (the admin address).
package proxy
