package lua

// Value is a Lua value: nil, bool, float64, string, *Table, *Userdata, a function, or a
// Symbol of the host.
type Value any

// Userdata is a value of a library that a script can hold, pass on and compare, and
// nothing else. It is equal only to itself.
type Userdata struct{ Name string }

// Symbol is a value that the host keeps sealed: a script can hold it, pass it on, and use
// it as a condition (it is true), and the interpreter knows its type. For everything else
// it asks the Host. Symbols are comparable.
type Symbol interface {
	// Type is "string" or "number".
	Type() string
}

// Host knows the symbols of a script. Each method either returns the result for the
// symbols, or ends the run by a panic of its own, which Chunk.Call does not recover.
type Host interface {
	// Reveal returns the value that s stands for, because the script looks into it.
	Reveal(s Symbol) Value
	// Compare returns a == b, a < b or a <= b. At least one is a symbol, and both are
	// strings (compared by == only) or both are numbers.
	Compare(operator string, a, b Value) bool
	// Arithmetic returns a + b and so on, where at least one is a symbol. It returns
	// false if the values are needed for it; then both are revealed, a first.
	Arithmetic(operator string, a, b Value) (Value, bool)
	// Apply returns a function of one symbol: tostring, tonumber, floor, ceil or abs. It
	// returns false if the value is needed for it; then s is revealed.
	Apply(function string, s Symbol) (Value, bool)
}

// TypeName returns what Lua's function type returns for a value.
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
	case *Userdata:
		return "userdata"
	case Symbol:
		return v.Type()
	}
	return "function"
}

// Equal returns a == b, and asks the host if one is a symbol.
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
