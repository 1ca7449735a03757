// Package notify delivers the news that a lock was released, as far as the release goes
// through this redlockd: to the subscribers of channels (hub.go, subscriptions.go), and
// to the clients that pop from a list (signals.go, waiter.go). None of it is on a master.
// It knows sessions only as a Subscriber and a Waiter.
package notify
