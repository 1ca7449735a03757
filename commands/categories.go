package commands

import "slices"

// operationNames are the names of the operations, in the order of their bits.
var operationNames = []string{"acquire", "extend", "release", "read", "remove", "admin"}

// OperationNames lists all operations by name.
func OperationNames() []string { return slices.Clone(operationNames) }

// Operation returns the operation of this name; false if there is none.
func Operation(name string) (Operations, bool) {
	i := slices.Index(operationNames, name)
	return 1 << max(i, 0), i >= 0
}

// Names returns the names of the operations in the set.
func (ops Operations) Names() []string {
	var names []string
	for i, name := range operationNames {
		if ops&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// MayMean lists the commands of this package that may need one of the operations.
func MayMean(ops Operations) []string {
	var names []string
	for i := range table {
		for _, s := range append([]Spec{table[i]}, table[i].Subcommands...) {
			if s.May&ops != 0 {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
