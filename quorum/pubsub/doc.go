// Package pubsub carries messages between all instances that use the same masters: the news
// of a release (S7), never a vote. A [Bus] (bus.go) publishes each message on all masters,
// and delivers the first copy of what another instance has published there.
//
// It has one connection to each master (peer.go), dialled anew when it ends (connection.go).
// outgoing.go gathers what is published in quick succession, and bounds it. subscribe.go asks
// the masters for a name; names.go knows who has asked for it and which masters have
// confirmed it. message.go is what travels, with its id; wire.go is RESP, as far as these
// connections need it.
//
// A bus opens no connection before its first use. Nothing in it waits for a master, except
// the goroutines of that master's own connection.
package pubsub
