package lua

// Globals are the libraries for scripts. They are never written to after the first call
// of a chunk with them, so all runs share them.
type Globals struct {
	values  map[string]Value
	strings *Table // the methods of strings
	absent  map[string]bool
	reason  string
}

// Add adds a library of functions and constants under its name: a table that scripts
// cannot write to.
func (g *Globals) Add(name string, functions map[string]Function, constants map[string]Value) *Table {
	t := &Table{rest: map[Value]Value{}, readonly: true, library: name}
	for field, call := range functions {
		t.rest[field] = &builtin{name + "." + field, call}
	}
	for field, v := range constants {
		t.rest[field] = v
	}
	g.values[name] = t
	return t
}

// refuseAbsent ends the run if name is one of the absent names.
func (g *Globals) refuseAbsent(name string) {
	if g.absent[name] {
		Refuse("uses %s, %s", name, g.reason)
	}
}
