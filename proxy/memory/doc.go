// Package memory counts what sessions hold of the memory that they share
// (max_memory), each in an account of a pool (account.go), and calls for help when that
// is too much.
package memory
