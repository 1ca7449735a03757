package lua

// Table is a Lua table without metatables. list holds 1..len(list) without a
// gap; everything else is in rest.
type Table struct {
	list     []Value
	rest     map[Value]Value
	readonly bool
	library  string // the name of a library table, for refusals
}

// entrySize is what one table entry is charged.
const entrySize = 64

func listIndex(key Value) (int, bool) {
	f, ok := key.(float64)
	if !ok || f < 1 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// Get reads one entry; key must be no symbol.
func (t *Table) Get(key Value) Value {
	if i, ok := listIndex(key); ok && i <= len(t.list) {
		return t.list[i-1]
	}
	return t.rest[key]
}

// Set writes one entry and keeps list without gaps.
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

// add appends v, and what stood in rest behind it.
func (t *Table) add(b *Budget, v Value) {
	for v != nil {
		b.Grow(entrySize)
		delete(t.rest, float64(len(t.list)+1))
		t.list = append(t.list, v)
		v = t.rest[float64(len(t.list)+1)]
	}
}

// cut removes entry i of list; what stands behind it moves to rest.
func (t *Table) cut(b *Budget, i int) {
	for j := i; j < len(t.list); j++ {
		t.put(b, float64(j+1), t.list[j])
	}
	t.list = t.list[:i-1]
}

// Border is #t. Lua leaves open which border a table with gaps has, so such
// tables are refused.
func (t *Table) Border(b *Budget) int {
	for key := range t.rest {
		b.Step(1)
		if f, ok := key.(float64); ok && f >= 1 {
			Refuse("asks for the length of a table with gaps")
		}
	}
	return len(t.list)
}

// next gives the entry after key: of a list by number, else the only entry. The
// order of other tables is Lua's secret.
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

// List is a fresh table of items; nil items leave gaps.
func List(b *Budget, items ...Value) *Table {
	t := &Table{}
	for i, v := range items {
		t.Set(b, float64(i+1), v)
	}
	return t
}

// Record is a fresh table with one named entry.
func Record(b *Budget, name string, v Value) *Table {
	t := &Table{}
	t.Set(b, name, v)
	return t
}
