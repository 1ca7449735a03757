// Package grammar reads the words of Redis's commands that several packages must read
// alike: names (grammar.go), the options of SET and the flags of EXPIRE (options.go), and
// the conditions of Redis 8.4 with their digests (conditions.go). It is pure, and knows
// neither locks nor replies, except the texts of Redis's errors.
package grammar
