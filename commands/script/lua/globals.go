package lua

// Globals are the libraries that scripts find. They are never written to once
// the first chunk was called with them, so all runs share them.
type Globals struct {
	values  map[string]Value
	strings *Table // where a string's methods are found
	absent  map[string]bool
	reason  string
}

// Add makes the functions and constants a library under its name: a table that
// scripts cannot write to.
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

// refuseAbsent ends the run if name is one of those that are absent.
func (g *Globals) refuseAbsent(name string) {
	if g.absent[name] {
		Refuse("uses %s, %s", name, g.reason)
	}
}
