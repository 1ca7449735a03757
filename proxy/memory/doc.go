// Package memory counts how much each session holds of the memory that all share
// (max_memory), each in an account of a pool (account.go), and has the pool's evict
// function called when that is too much.
package memory
