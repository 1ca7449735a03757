package lua

// Value is a Lua value: nil, bool, float64, string, *Table, a function, or a
// Symbol of the host.
type Value any

// Symbol is a value that the host keeps sealed: a script can hold it, hand it
// on, and use it as a condition (it is true), and the interpreter knows its type.
// For all else it asks the Host. Symbols are comparable.
type Symbol interface {
	// Type is "string" or "number".
	Type() string
}

// Host is what gives a script its symbols. For each use of one it knows the
// result, or ends the run by a panic of its own, which Chunk.Call lets through.
type Host interface {
	// Reveal is the value that s stands for: the script looks into it.
	Reveal(s Symbol) Value
	// Compare is a == b, a < b or a <= b. One at least is a symbol, and both
	// are strings (compared by == only) or both are numbers.
	Compare(operator string, a, b Value) bool
	// Arithmetic is a + b and so on where one at least is a symbol. It is false
	// where only the values tell; then both are revealed, a first.
	Arithmetic(operator string, a, b Value) (Value, bool)
	// Apply is a function on one symbol: tostring, tonumber, floor, ceil or abs.
	// It is false where only the value tells; then s is revealed.
	Apply(function string, s Symbol) (Value, bool)
}

// TypeName is what the function type tells of a value.
func TypeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case *Table:
		return "table"
	case Symbol:
		return v.Type()
	}
	return "function"
}

// Equal is a == b; where one is a symbol, the host knows.
func Equal(h Host, a, b Value) bool {
	kind := TypeName(a)
	if kind != TypeName(b) {
		return false
	}
	if kind != "string" && kind != "number" || !isSymbol(a) && !isSymbol(b) {
		return a == b
	}
	return h.Compare("==", a, b)
}

func isSymbol(v Value) bool {
	switch v.(type) {
	case nil, bool, float64, string, *Table:
		return false
	}
	_, is := v.(Symbol)
	return is
}

func truth(v Value) bool { return v != nil && v != false }

func firstOf(values []Value) Value {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}
