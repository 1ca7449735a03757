package commands

import "slices"

// operationNames are the names of the operations, in the order of their bits.
var operationNames = []string{"acquire", "extend", "release", "read", "remove", "admin"}

// OperationNames lists all operations by name.
func OperationNames() []string { return slices.Clone(operationNames) }

// Operation is the operation of this name; false if there is none.
func Operation(name string) (Operations, bool) {
	i := slices.Index(operationNames, name)
	return 1 << max(i, 0), i >= 0
}

// Names are those of the operations in the set.
func (ops Operations) Names() []string {
	var names []string
	for i, name := range operationNames {
		if ops&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// MayMean lists the commands that may need the operation; nil if there is no
// such operation.
func MayMean(operation string) []string {
	scripts := []string{"eval", "evalsha"}
	switch operation {
	case "acquire":
		return append([]string{"set", "setnx", "blpop", "brpop"}, scripts...)
	case "extend":
		return append([]string{"set", "expire", "pexpire", "expireat", "pexpireat"}, scripts...)
	case "release":
		return append([]string{"delex", "delifeq", "del", "unlink"}, scripts...)
	case "read":
		return append([]string{"get", "mget", "exists", "touch", "ttl", "pttl", "expiretime", "pexpiretime", "strlen",
			"type", "watch", "locks|who", "set", "getset", "getdel", "eval_ro", "evalsha_ro"}, scripts...)
	case "remove":
		return append(append(slices.Clone(deniable), "locks|force"), scripts...)
	case "admin":
		return []string{"acl|cat", "acl|list", "acl|users", "acl|getuser", "client|list", "locks|list", "scan", "pubsub", "slowlog",
			"script|flush", "script|kill"}
	}
	return nil
}
