package main

// ballast is memory that is never touched, so it takes none of the machine's,
// but counts as living when Go decides how much garbage may gather. Without it
// a heap of a few MiB, which is all that a busy redlockd needs, is collected
// a hundred times a second. A greater GOGC instead would let the garbage grow
// with the number of sessions.
const ballast = 16 << 20

func newBallast() []byte { return make([]byte, ballast) }
