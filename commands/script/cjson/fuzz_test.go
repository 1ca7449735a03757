package cjson

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// FuzzDecode compares with encoding/json, which reads and writes strict JSON: what it
// accepts is decoded to the same value, and what is encoded it reads as that value.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"ownerName":"a","version":"1","leaseDurationMillis":10000}`, `{"Key":"k","Value":"bWU=","LastIndex":123456789}`,
		`[1,[2,[3]],{"a":null}]`, `"\ud83d\ude00\u0000\/"`, `[-0,1e999,0x1p-3,nan,-inf,007]`, "{}\x00", "\"\x80\"", `[[[[`, `nan(`, `-`, ` `,
		strings.Repeat("[", 1001), `{"a":{"a":{"a":1}},"a":2}`, `"\`, `"\u`, `1.`, `[1,2`, `{"a"`, "\x00\x00", `tru`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, failed := call(t, `return cjson.decode(S)`, s)
		var want any
		if err := json.Unmarshal([]byte(s), &want); err == nil && utf8.ValidString(s) && !loneSurrogate(s) {
			if failed != "" && !strings.Contains(failed, "nested") && !strings.HasPrefix(failed, "refused: ") {
				t.Errorf("%q: %s", s, failed)
			} else if failed == "" && !same(v, want) {
				t.Errorf("%q is %v, want %v", s, v, want)
			}
		}
		text, failed := call(t, `return cjson.encode(cjson.decode(S))`, s)
		if failed != "" {
			return
		}
		if err := json.Unmarshal([]byte(text.(string)), &want); err != nil {
			t.Errorf("%q is encoded as %q: %v", s, text, err)
		}
		if again, failed := call(t, `return cjson.encode(cjson.decode(S))`, text.(string)); again != text {
			t.Errorf("%q is encoded as %q, and that as %q %s", s, text, again, failed)
		}
	})
}

// loneSurrogate reports whether s may have an escape that encoding/json replaces.
func loneSurrogate(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, `\ud`) || strings.Contains(s, "\ufffd")
}

// same reports whether v is what encoding/json has read.
func same(v lua.Value, want any) bool {
	switch want := want.(type) {
	case nil:
		return v == null
	case []any:
		t, ok := v.(*lua.Table)
		for i, item := range want {
			ok = ok && same(t.Get(float64(i+1)), item)
		}
		return ok
	case map[string]any:
		t, ok := v.(*lua.Table)
		for key, item := range want {
			ok = ok && same(t.Get(key), item)
		}
		return ok
	case float64:
		f, ok := v.(float64)
		return ok && (f == want || math.IsNaN(f) && math.IsNaN(want))
	}
	return v == want
}
