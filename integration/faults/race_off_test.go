//go:build !race

package faults

// raceDetector is whether the tests run with the race detector; the binary
// under test is then built with it too.
const raceDetector = false
