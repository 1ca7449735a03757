package cjson

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// An array may have up to sparseRatio places for each item, or up to sparseSafe places.
const (
	sparseRatio = 2
	sparseSafe  = 10
)

// encoder writes one value.
type encoder struct {
	run *lua.Run
	out strings.Builder
}

// write appends s, which is paid for before.
func (e *encoder) write(s string) {
	e.run.Grow(len(s))
	e.out.WriteString(s)
}

// value writes v, which is in so many tables.
func (e *encoder) value(v lua.Value, depth int) {
	switch v := e.run.Reveal(v).(type) {
	case nil:
		e.write("null")
	case bool:
		e.write(strconv.FormatBool(v))
	case float64:
		e.write(e.number(v))
	case string:
		e.text(v)
	case *lua.Table:
		e.table(v, depth+1)
	default:
		if v != null {
			e.fail(lua.TypeName(v), "type not supported")
		}
		e.write("null")
	}
}

// fail raises the error that a value of this type cannot be written.
func (e *encoder) fail(typeName, reason string) {
	e.run.Fail("Cannot serialise %s: %s", typeName, reason)
}

func (e *encoder) number(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.fail("number", "must not be NaN or Inf")
	}
	return lua.FormatNumber(f, 14)
}

func (e *encoder) table(t *lua.Table, depth int) {
	if depth > maxDepth {
		e.run.Fail("Cannot serialise, excessive nesting (%d)", depth)
	}
	if n := e.length(t); n > 0 {
		e.array(t, n, depth)
		return
	}
	e.object(t, depth)
}

// length returns the greatest index of a table that is written as an array, or 0. An empty
// table is an object.
func (e *encoder) length(t *lua.Table) int {
	greatest, items, named := 0.0, 0.0, false
	for key := range t.All() {
		e.run.Step(1)
		f, isNumber := key.(float64)
		named = named || !isNumber || f < 1 || f != math.Floor(f)
		greatest, items = max(greatest, f), items+1
	}
	switch {
	case named:
		return 0
	case greatest > math.MaxInt32: // C's int overflows, and what that means depends on the processor
		lua.Refuse("encodes a table with the index %g", greatest)
	case greatest > items*sparseRatio && greatest > sparseSafe:
		e.fail("table", "excessively sparse array")
	}
	return int(greatest)
}

func (e *encoder) array(t *lua.Table, n, depth int) {
	separator := "["
	for i := 1; i <= n; i++ {
		e.write(separator)
		e.value(t.Get(float64(i)), depth)
		separator = ","
	}
	e.write("]")
}

// entry is an entry of an object: its key, and that as it is written.
type entry struct {
	key, v lua.Value
	name   string
}

func (e *encoder) object(t *lua.Table, depth int) {
	separator := "{"
	for _, entry := range e.entries(t) {
		e.write(separator)
		e.text(entry.name)
		e.write(":")
		e.value(entry.v, depth)
		separator = ","
	}
	if separator == "{" {
		e.write("{")
	}
	e.write("}")
}

// entries returns the entries of t by their names. A number and a string may have the same
// name; then the number is first.
func (e *encoder) entries(t *lua.Table) []entry {
	var all []entry
	unfit := "" // the first type of a key that is no name
	for key, v := range t.All() {
		e.run.Grow(64)
		name := ""
		switch key := key.(type) {
		case string:
			name = key
		case float64:
			name = e.number(key)
		default:
			if kind := lua.TypeName(key); unfit == "" || kind < unfit {
				unfit = kind
			}
		}
		all = append(all, entry{key, v, name})
	}
	if unfit != "" {
		e.fail(unfit, "table key must be a number or string")
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(lua.TypeName(a.key), lua.TypeName(b.key)))
	})
	return all
}

// escapes are what some characters are written as.
var escapes = func() (all [256]string) {
	for c := range byte(' ') {
		all[c] = fmt.Sprintf(`\u%04x`, c)
	}
	all[0x7f] = `\u007f`
	for short, c := range unescaped {
		all[c] = `\` + string(short)
	}
	return all
}()

// text writes a string.
func (e *encoder) text(s string) {
	e.run.Grow(len(s) + 2)
	e.out.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if escape := escapes[s[i]]; escape != "" {
			e.write(escape)
		} else {
			e.out.WriteByte(s[i])
		}
	}
	e.out.WriteByte('"')
}
