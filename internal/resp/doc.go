// Package resp speaks RESP, the protocol of Redis, in versions 2 and 3. It knows
// neither sessions nor locks.
//
//   - reader.go cuts what a client sends into commands, inline.go those that are
//     typed by hand; limits.go bounds them and has the errors of frames that cannot
//     be followed;
//   - reply.go is a reply without its encoding, encode.go encodes it;
//   - integer.go reads integers, glob.go matches patterns, both as Redis does.
//
// redcon is named only here: it writes RESP2. It reads no frame, because an
// absurd length ends the process inside it, and because its reader recurses
// once for every read of an incomplete command: the guard that must follow the
// frames for that knows the arguments when it comes to their end.
package resp
