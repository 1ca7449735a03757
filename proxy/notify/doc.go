// Package notify tells those who wait that a lock was released, as far as it passes
// through this redlockd: the subscribers of channels (hub.go, subscriptions.go), and
// those who pop from a list (signals.go, waiter.go). No master has any of it. It knows sessions
// only as a Subscriber and a Waiter.
package notify
