package script

import (
	"math"
	"strings"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// template is a reply for all calls of one form; its open parts take their values from
// the inputs of a call.
type template struct {
	value Value
	open  openPart
	class int    // openText: which input
	num   linear // openNumber
	items []template
}

type openPart uint8

const (
	closed openPart = iota
	openText
	openNumber
	openList // one of items is open
)

// fill returns the reply for a call with these inputs.
func (s *template) fill(inputs []string) Value {
	switch s.open {
	case openText:
		return Value{Kind: Bulk, Text: inputs[s.class]}
	case openNumber:
		return Value{Kind: Int, Int: s.num.of(inputs)}
	case openList:
		v := Value{Kind: Array, Items: make([]Value, len(s.items))}
		for i := range s.items {
			v.Items[i] = s.items[i].fill(inputs)
		}
		return v
	}
	return s.value
}

// size returns about how many bytes s takes.
func (s *template) size() int {
	n := 200 + len(s.value.Text)
	for i := range s.items {
		n += s.items[i].size()
	}
	return n
}

const maxReplyDepth = 16

// reply converts the script's result, by the rules of EVAL.
func (r *run) reply(v value, depth int) template {
	r.Grow(64)
	if depth > maxReplyDepth {
		lua.Refuse("returns a table that nests more than %d deep", maxReplyDepth)
	}
	switch v := v.(type) {
	case bool:
		if v {
			return template{value: Value{Kind: Int, Int: 1}}
		}
	case float64:
		return template{value: Value{Kind: Int, Int: cut(v)}}
	case string:
		return template{value: Value{Kind: Bulk, Text: v}}
	case sealed:
		return template{open: openText, class: v.class}
	case linear:
		return template{open: openNumber, num: v}
	case stored:
		return template{value: Value{Kind: StoredValue}}
	case remaining:
		if v.seconds {
			return template{value: Value{Kind: StoredTTL}}
		}
		return template{value: Value{Kind: StoredPTTL}}
	case subscriberCount, signalNumber:
		r.reveal(v)
	case *lua.Table:
		return r.replyTable(v, depth)
	}
	return template{value: Value{Kind: Null}}
}

func (r *run) replyTable(t *lua.Table, depth int) template {
	if text, ok := r.reveal(t.Get("err")).(string); ok {
		return template{value: Value{Kind: Error, Text: line(text)}}
	}
	if text, ok := r.reveal(t.Get("ok")).(string); ok {
		return template{value: Value{Kind: Status, Text: line(text)}}
	}
	for _, name := range []string{"double", "map", "set", "big_number", "verbatim_string"} {
		if t.Get(name) != nil {
			lua.Refuse("returns a table with %q, a type of RESP3", name)
		}
	}
	s := template{value: Value{Kind: Array, Items: []Value{}}}
	for i := 1; ; i++ {
		v := t.Get(float64(i))
		if v == nil {
			return s
		}
		item := r.reply(v, depth+1)
		s.items = append(s.items, item)
		s.value.Items = append(s.value.Items, item.value)
		if item.open != closed {
			s.open = openList
		}
	}
}

// line refuses texts that would break the protocol.
func line(text string) string {
	if strings.ContainsAny(text, "\r\n") {
		lua.Refuse("replies with a status of several lines")
	}
	return text
}

// cut converts like C from a double to a long long.
func cut(f float64) int64 {
	if math.IsNaN(f) || f >= 1<<63 || f < -1<<63 {
		return math.MinInt64
	}
	return int64(f)
}

// raised returns the reply for an error that the script did not catch.
func (r *run) raised(e *lua.Raised) template {
	text, ok := "", false
	if t, isTable := e.Value.(*lua.Table); isTable {
		text, ok = r.reveal(t.Get("err")).(string)
	} else if kind := lua.TypeName(e.Value); kind == "string" || kind == "number" {
		text, ok = "ERR "+r.text(e.Value), true
	}
	if !ok {
		lua.Refuse("raises an error that is not a string")
	}
	text += " script: " + r.chunk.sha + ", on @user_script:" + lua.FormatNumber(float64(e.Line), 17) + "."
	return template{value: Value{Kind: Error, Text: line(text)}}
}
