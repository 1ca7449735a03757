// Package pubsub carries messages between all redlockd that use the same masters: the news
// of a release (S7), never a vote. A [Bus] (bus.go) has one connection to each master
// (peer.go). It publishes every message on all of them, and delivers the first copy of what
// another redlockd has published.
//
// outgoing.go gathers what is published in quick succession, and bounds it; names.go knows
// which names are subscribed to, and which masters have confirmed that; message.go is what
// travels, with its id; wire.go is RESP, as far as this connection needs it.
//
// A bus opens no connection before its first use. Nothing in it waits for a master, except
// the goroutines of that master's own connection.
package pubsub
