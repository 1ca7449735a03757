// Package resp implements RESP, the protocol of Redis, in versions 2 and 3. It knows
// neither sessions nor locks.
//
//   - reader.go splits a client's input into commands, inline.go those typed by hand;
//     limits.go has the limits and the errors for invalid frames;
//   - reply.go has replies without their encoding, encode.go encodes them;
//   - integer.go parses integers, glob.go matches patterns, both as Redis does.
//
// Only this package uses redcon, to write RESP2. It does not use redcon's reader, because
// an absurd length ends the process inside it, and because it recurses once for every
// read of an incomplete command. A guard against that would have to parse the frames, and
// so has the arguments at the end anyway.
package resp
