// Package certificates holds what the blocks tls of the configuration name: certificates,
// their keys and authorities, in PEM files that may change while redlockd runs.
//
// [Blocks] are the names of the files, as in the configuration; files.go reads and checks
// them. [Open] makes a [Store] of them (certificates.go), which provides TLS to listeners
// and masters. It loads changed files by itself or at a SIGHUP, without ending a
// connection. What is in force for one block is an identity (identity.go), which
// connections consult at each handshake. identity.go also verifies the masters'
// certificates.
package certificates
