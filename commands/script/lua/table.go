package lua

import "iter"

// Table is a Lua table without metatables. list holds 1..len(list) without a
// gap; everything else is in rest.
type Table struct {
	list     []Value
	rest     map[Value]Value
	readonly bool
	library  string // the name of a library table, for refusals
}

// entrySize is the number of bytes charged for a table entry.
const entrySize = 64

func listIndex(key Value) (int, bool) {
	f, ok := key.(float64)
	if !ok || f < 1 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// Get returns one entry; key must not be a symbol.
func (t *Table) Get(key Value) Value {
	if i, ok := listIndex(key); ok && i <= len(t.list) {
		return t.list[i-1]
	}
	return t.rest[key]
}

// Set sets one entry and keeps list without gaps.
func (t *Table) Set(b *Budget, key, v Value) {
	i, ok := listIndex(key)
	switch {
	case ok && i <= len(t.list) && v != nil:
		t.list[i-1] = v
	case ok && i <= len(t.list):
		t.cut(b, i)
	case ok && i == len(t.list)+1 && v != nil:
		t.add(b, v)
	case v == nil:
		delete(t.rest, key)
	default:
		t.put(b, key, v)
	}
}

func (t *Table) put(b *Budget, key, v Value) {
	b.Grow(entrySize)
	if t.rest == nil {
		t.rest = map[Value]Value{}
	}
	t.rest[key] = v
}

// add appends v, and the entries of rest that now follow it without a gap.
func (t *Table) add(b *Budget, v Value) {
	for v != nil {
		b.Grow(entrySize)
		delete(t.rest, float64(len(t.list)+1))
		t.list = append(t.list, v)
		v = t.rest[float64(len(t.list)+1)]
	}
}

// cut removes entry i of list, and moves the entries behind it to rest.
func (t *Table) cut(b *Budget, i int) {
	for j := i; j < len(t.list); j++ {
		t.put(b, float64(j+1), t.list[j])
	}
	t.list = t.list[:i-1]
}

// Border returns #t. Lua does not define which border of a table with gaps it returns, so
// such tables are refused.
func (t *Table) Border(b *Budget) int {
	for key := range t.rest {
		b.Step(1)
		if f, ok := key.(float64); ok && f >= 1 {
			Refuse("asks for the length of a table with gaps")
		}
	}
	return len(t.list)
}

// next returns the entry after key, in a list or in a table with one entry. The order of
// other tables is undefined, so they are refused.
func (t *Table) next(key Value) []Value {
	if len(t.rest) > 0 && len(t.rest)+len(t.list) > 1 {
		Refuse("iterates over a table that is not a list")
	}
	i := 0
	if key != nil {
		n, ok := listIndex(key)
		if !ok || len(t.rest) > 0 {
			return []Value{nil}
		}
		i = n
	}
	if i < len(t.list) {
		return []Value{float64(i + 1), t.list[i]}
	}
	for k, v := range t.rest {
		return []Value{k, v}
	}
	return []Value{nil}
}

// All yields all entries: those of 1..n in order, then the others in no order.
func (t *Table) All() iter.Seq2[Value, Value] {
	return func(yield func(key, v Value) bool) {
		for i, v := range t.list {
			if !yield(float64(i+1), v) {
				return
			}
		}
		for key, v := range t.rest {
			if !yield(key, v) {
				return
			}
		}
	}
}

// List returns a new table of items; nil items leave gaps.
func List(b *Budget, items ...Value) *Table {
	t := &Table{}
	for i, v := range items {
		t.Set(b, float64(i+1), v)
	}
	return t
}

// Record returns a new table with one named entry.
func Record(b *Budget, name string, v Value) *Table {
	t := &Table{}
	t.Set(b, name, v)
	return t
}
