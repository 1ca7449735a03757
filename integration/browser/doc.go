// Package browser tests the status page in a real Chromium, over real masters
// and the built redlockd: `make browser`. It is a module of its own, because
// what drives a browser is much and nothing else needs it.
package browser
