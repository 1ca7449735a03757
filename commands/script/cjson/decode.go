package cjson

import (
	"strings"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// decode returns the value that s stands for.
func decode(r *lua.Run, s string) lua.Value {
	if len(s) >= 2 && (s[0] == 0 || s[1] == 0) {
		r.Fail("JSON parser does not support UTF-16 or UTF-32")
	}
	s, _, _ = strings.Cut(s, "\x00") // a zero byte is the end, as in C
	d := decoder{reader: reader{run: r, text: s}}
	v := d.value(d.next())
	if t := d.next(); t.kind != end {
		d.expected("the end", t)
	}
	return v
}

// decoder reads one text.
type decoder struct {
	reader
	depth int
}

// expected raises the error that t is not what must follow.
func (d *decoder) expected(what string, t token) {
	found := t.wrong
	if found == "" {
		found = t.kind.String()
	}
	d.run.Fail("Expected %s but found %s at character %d", what, found, t.at+1)
}

// value returns the value that begins with t.
func (d *decoder) value(t token) lua.Value {
	switch t.kind {
	case text, number, boolean, nothing:
		return t.value
	case objectBegin:
		return d.nested(d.object)
	case arrayBegin:
		return d.nested(d.array)
	}
	d.expected("value", t)
	return nil
}

// nested returns what read reads into a new table.
func (d *decoder) nested(read func(*lua.Table)) lua.Value {
	if d.depth++; d.depth > maxDepth {
		d.run.Fail("Found too many nested data structures (%d) at character %d", d.depth, d.at)
	}
	d.run.Grow(64)
	t := &lua.Table{}
	read(t)
	d.depth--
	return t
}

func (d *decoder) object(into *lua.Table) {
	t := d.next()
	if t.kind == objectEnd {
		return
	}
	for {
		if t.kind != text {
			d.expected("object key string", t)
		}
		key := t.value
		if t = d.next(); t.kind != colon {
			d.expected("colon", t)
		}
		into.Set(d.run.Budget, key, d.value(d.next()))
		if t = d.next(); t.kind == objectEnd {
			return
		}
		if t.kind != comma {
			d.expected("comma or object end", t)
		}
		t = d.next()
	}
}

func (d *decoder) array(into *lua.Table) {
	t := d.next()
	if t.kind == arrayEnd {
		return
	}
	for n := 1.0; ; n++ {
		into.Set(d.run.Budget, n, d.value(t))
		if t = d.next(); t.kind == arrayEnd {
			return
		}
		if t.kind != comma {
			d.expected("comma or array end", t)
		}
		t = d.next()
	}
}
