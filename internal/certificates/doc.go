// Package certificates keeps what the blocks tls of the configuration name:
// certificates, their keys and authorities, in PEM files that may change while
// redlockd runs.
//
// [Blocks] are the names of the files, as the configuration has them; they are
// read and checked in files.go. [Open] makes a [Store] of them
// (certificates.go), which gives listeners and masters their TLS and loads new
// files, when they change or at a SIGHUP, without ending a connection. What is
// in force for one block is an identity (identity.go), which connections ask
// anew for each handshake. How a master is verified stands there, too.
package certificates
