package cjson

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/commands/script/lua"
)

var globals = func() *lua.Globals {
	g := lua.NewGlobals(Absent, "which no test needs")
	g.Add(Name, Functions(), Constants())
	return g
}()

// call runs a script whose global S is s, and returns its result or its error.
func call(t testing.TB, source, s string) (result lua.Value, failed string) {
	t.Helper()
	chunk, err := lua.Parse("script", source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		p := recover()
		if err, ok := p.(error); ok && errors.As(err, new(*lua.RefusedError)) {
			failed = "refused: " + err.Error()
		} else if p != nil {
			panic(p)
		}
	}()
	results, raised := chunk.Call(lua.NewBudget(), globals, map[string]lua.Value{"S": s}, nil)
	if raised != nil {
		return nil, fmt.Sprint(raised.Value)
	}
	return results[0], ""
}

// TestDecode: what is read, and how it is written again, as Redis 7.0.15 does.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"b":1,"a":[true,false,null],"c":{}}`, `{"a":[true,false,null],"b":1,"c":{}}`},
		{" \t\r\n[ 1 , 2 ] ", `[1,2]`},
		{`[]`, `{}`},
		{`"text"`, `"text"`},
		{`null`, `null`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{"1":"a","2":"b"}`, `{"1":"a","2":"b"}`},
		{`{"":0}`, `{"":0}`},
		{`"\u0041\u00e9\u20ac\ud83d\ude00\u0000"`, "\"A\u00e9\u20ac\U0001F600\\u0000\""},
		{`"\"\\\/\b\f\n\r\t"`, `"\"\\\/\b\f\n\r\t"`},
		{"\"\x01\x7f\xff\"", "\"\\u0001\\u007f\xff\""},
		{`[0,-0,1.5,1e3,1E+2,123456789012345,1e15,0.1,1e-7,-2.50]`, `[0,-0,1.5,1000,100,1.2345678901234e+14,1e+15,0.1,1e-07,-2.5]`},
		{`[007,+5,0x1F,0x1.8p1,-.5,1.,0X]`, "Expected comma or array end but found invalid token at character 30"},
		{`[007,+5,0x1F,0x1.8p1,-.5,1.]`, `[7,5,31,3,-0.5,1]`},
		{"{}\x00what follows", `{}`},
		{"\x00", "Expected value but found T_END at character 1"},
		{"{\x00", "JSON parser does not support UTF-16 or UTF-32"},
		{"\"a\x00b\"", "Expected value but found unexpected end of string at character 3"},
		{``, "Expected value but found T_END at character 1"},
		{`token`, "Expected value but found invalid token at character 1"},
		{`nul`, "Expected value but found invalid token at character 1"},
		{`[1,]`, "Expected value but found T_ARR_END at character 4"},
		{`[1 2]`, "Expected comma or array end but found T_NUMBER at character 4"},
		{`{1:2}`, "Expected object key string but found T_NUMBER at character 2"},
		{`{"a" 1}`, "Expected colon but found T_NUMBER at character 6"},
		{`{"a":1 "b"}`, "Expected comma or object end but found T_STRING at character 8"},
		{`{"a":1,}`, "Expected object key string but found T_OBJ_END at character 8"},
		{`1 true`, "Expected the end but found T_BOOLEAN at character 3"},
		{`nullnull`, "Expected the end but found T_NULL at character 5"},
		{`"\x"`, "Expected value but found invalid escape code at character 2"},
		{`"\u12g4"`, "Expected value but found invalid unicode escape code at character 2"},
		{`"\udc00"`, "Expected value but found invalid unicode escape code at character 2"},
		{`"\ud800\u0041"`, "Expected value but found invalid unicode escape code at character 2"},
		{`"\ud800"`, "Expected value but found invalid unicode escape code at character 2"},
		{`"open`, "Expected value but found unexpected end of string at character 6"},
		{`-`, "Expected value but found invalid number at character 1"},
		{`+x`, "Expected value but found invalid number at character 1"},
		{`.5`, "Expected value but found invalid token at character 1"},
		{`1e`, "Expected the end but found invalid token at character 2"},
		{`'a'`, "Expected value but found invalid token at character 1"},
		{`[inf,-Infinity]`, "Cannot serialise number: must not be NaN or Inf"},
		{`1e999`, "Cannot serialise number: must not be NaN or Inf"},
		{`NaN`, "Cannot serialise number: must not be NaN or Inf"},
		{`infinit`, "Expected the end but found invalid token at character 4"},
		{`nan(7)`, "refused: decodes \"nan(7)\""},
	} {
		got, failed := call(t, `return cjson.encode(cjson.decode(S))`, c.text)
		if failed = strings.TrimPrefix(failed, "script:1: "); failed != "" {
			got = failed
		}
		if got != c.want {
			t.Errorf("%q\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestLibrary: what a script sees besides texts.
func TestLibrary(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`return cjson.encode({z = 1, a = 2, [3] = 3, ['3'] = 4})`, `{"3":3,"3":4,"a":2,"z":1}`},
		{`return cjson.encode({})`, `{}`},
		{`return cjson.encode({1, nil, 3})`, `[1,null,3]`},
		{`return cjson.encode({[10] = 1})`, `[null,null,null,null,null,null,null,null,null,1]`},
		{`return cjson.encode({[11] = 1})`, "script:1: Cannot serialise table: excessively sparse array"},
		{`return cjson.encode({[2] = 'b', [1.5] = 'a', [-1] = 'c'})`, `{"-1":"c","1.5":"a","2":"b"}`},
		{`return cjson.encode({[2^40] = 1})`, "refused: encodes a table with the index 1.099511627776e+12"},
		{`return cjson.encode(nil)`, `null`},
		{`return cjson.encode(1/3)`, `0.33333333333333`},
		{`return cjson.encode({[true] = 1})`, "script:1: Cannot serialise boolean: table key must be a number or string"},
		{`return cjson.encode({type})`, "script:1: Cannot serialise function: type not supported"},
		{`return cjson.encode(cjson)`, "script:1: Cannot serialise function: type not supported"},
		{`local t = {} t[1] = t return cjson.encode(t)`, "script:1: Cannot serialise, excessive nesting (1001)"},
		{`return cjson.encode()`, "script:1: bad argument #1 to 'encode' (expected 1 argument)"},
		{`return cjson.encode(1, 2)`, "script:1: bad argument #1 to 'encode' (expected 1 argument)"},
		{`return cjson.decode({})`, "script:1: bad argument #1 to 'decode' (string expected, got table)"},
		{`return cjson.encode(cjson.decode(12))`, `12`},
		{`return cjson.encode({cjson.null, cjson.null == cjson.decode('null'), type(cjson.null), cjson.null == nil})`, `[null,true,"userdata",false]`},
		{`return cjson.decode('{"a":null}').a.b`, "script:1: attempt to index field 'a' (a userdata value)"},
		{`return cjson._NAME .. cjson._VERSION`, `cjson2.1.0`},
		{`return cjson.encode({pcall(cjson.decode, 'x')})`, `[false,"Expected value but found invalid token at character 1"]`},
		{`return cjson.encode({pcall(cjson.decode)})`, `[false,"bad argument #1 to '?' (expected 1 argument)"]`},
		{`return cjson.encode({pcall(function() return cjson.decode('x') end)})`, `[false,"script:1: Expected value but found invalid token at character 1"]`},
		{`return cjson.encode_keep_buffer(false)`, "refused: uses cjson.encode_keep_buffer, which no test needs"},
		{`cjson.x = 1`, "script:1: Attempt to modify a readonly table"},
	} {
		got, failed := call(t, c.source, "")
		if failed != "" {
			got = failed
		}
		if got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.source, got, c.want)
		}
	}
}

// TestBounds: no text and no value makes a run take memory or time without bound.
func TestBounds(t *testing.T) {
	const deep = "Found too many nested data structures (1001) at character 1001"
	for _, c := range []struct{ name, source, text, want string }{
		{"deep array", `return cjson.decode(S)`, strings.Repeat("[", 1<<20), "script:1: " + deep},
		{"just not too deep", `return cjson.encode(cjson.decode(S))`, strings.Repeat("[", 999) + "1" + strings.Repeat("]", 999), ""},
		{"many items", `return cjson.decode(S)`, "[" + strings.Repeat("0,", 200_000) + "0]", "refused: "},
		{"many empty objects", `return cjson.decode(S)`, "[" + strings.Repeat("{},", 200_000) + "0]", "refused: "},
		{"many numbers", `return cjson.encode(cjson.decode(S))`, "[" + strings.Repeat("1e1,", 20_000) + "0]", ""},
		{"spaces", `return cjson.decode(S)`, strings.Repeat(" ", 8<<20), "refused: "},
		{"a long text", `return cjson.encode(cjson.decode(S))`, `"` + strings.Repeat("x", 9<<20) + `"`, "refused: "},
		{"escapes that grow", `return cjson.encode(S)`, strings.Repeat("\x01", 2<<20), "refused: "},
		{"one table many times", `local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)`, "", "refused: "},
		{"many errors caught", `while true do pcall(cjson.decode, S) end`, strings.Repeat("[", 2000), "refused: "},
	} {
		if _, failed := call(t, c.source, c.text); failed != c.want && (c.want != "refused: " || !strings.HasPrefix(failed, c.want)) {
			t.Errorf("%s: got %.200q, want %q", c.name, failed, c.want)
		}
	}
}
