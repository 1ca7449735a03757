//go:build race

package rig

// // Race is the tests run with the race detector; the binary
// under test is then built with it too.
const Race = true
