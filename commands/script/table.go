package script

// value is a Lua value: nil, bool, float64, string, *table, *closure,
// *builtin, or one of the sealed values of symbol.go.
type value any

// table is a Lua table without metatables. list holds 1..len(list) without a
// gap; everything else is in rest.
type table struct {
	list     []value
	rest     map[value]value
	readonly bool
	library  string // the name of a library table, for refusals
}

// entrySize is what one table entry is charged.
const entrySize = 64

func listIndex(key value) (int, bool) {
	f, ok := key.(float64)
	if !ok || f < 1 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// get reads one entry; key must be no sealed value (see run.index).
func (t *table) get(key value) value {
	if i, ok := listIndex(key); ok && i <= len(t.list) {
		return t.list[i-1]
	}
	return t.rest[key]
}

// set writes one entry and keeps list without gaps.
func (t *table) set(b *budget, key, v value) {
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

func (t *table) put(b *budget, key, v value) {
	b.grow(entrySize)
	if t.rest == nil {
		t.rest = map[value]value{}
	}
	t.rest[key] = v
}

// add appends v, and what stood in rest behind it.
func (t *table) add(b *budget, v value) {
	for v != nil {
		b.grow(entrySize)
		delete(t.rest, float64(len(t.list)+1))
		t.list = append(t.list, v)
		v = t.rest[float64(len(t.list)+1)]
	}
}

// cut removes entry i of list; what stands behind it moves to rest.
func (t *table) cut(b *budget, i int) {
	for j := i; j < len(t.list); j++ {
		t.put(b, float64(j+1), t.list[j])
	}
	t.list = t.list[:i-1]
}

// border is #t. Lua leaves open which border a table with gaps has, so such
// tables are refused.
func (t *table) border(b *budget) int {
	for key := range t.rest {
		b.step(1)
		if f, ok := key.(float64); ok && f >= 1 {
			refuse("asks for the length of a table with gaps")
		}
	}
	return len(t.list)
}

// listOf is a fresh table of items; nil items leave gaps.
func listOf(b *budget, items ...value) *table {
	t := &table{}
	for i, v := range items {
		t.set(b, float64(i+1), v)
	}
	return t
}

// oneField is a fresh table with one named entry: {ok = ...}, {err = ...}.
func oneField(b *budget, name string, v value) *table {
	t := &table{}
	t.set(b, name, v)
	return t
}
