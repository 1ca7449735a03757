// Package notify delivers the news that a lock was released: to the subscribers of channels
// (hub.go, subscriptions.go), and to the clients that pop from a list (signals.go, waiter.go).
// The [Relay] (relay.go) passes it on to the other redlockd and back. None of it is kept on a
// master.
// It knows sessions only as a Subscriber and a Waiter.
package notify
