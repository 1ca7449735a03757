package resp

import "testing"

// C1: types that RESP2 does not have are encoded as Redis does for a RESP2 client.
func TestC1Encoding(t *testing.T) {
	for _, c := range []struct {
		reply      Reply
		two, three string
	}{
		{OK, "+OK\r\n", "+OK\r\n"},
		{Error("ERR syntax error"), "-ERR syntax error\r\n", "-ERR syntax error\r\n"},
		{Int(-2), ":-2\r\n", ":-2\r\n"},
		{Bulk("a\r\n"), "$3\r\na\r\n\r\n", "$3\r\na\r\n\r\n"},
		{Null, "$-1\r\n", "_\r\n"},
		{NullArray, "*-1\r\n", "_\r\n"},
		{Verbatim("hi"), "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"},
		{Array(), "*0\r\n", "*0\r\n"},
		{Array(Int(1), Null), "*2\r\n:1\r\n$-1\r\n", "*2\r\n:1\r\n_\r\n"},
		{Reply{Kind: KindMap, Items: []Reply{Bulk("a"), Int(1)}}, "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
		{Reply{Kind: KindSet, Items: Bulks("a")}, "*1\r\n$1\r\na\r\n", "~1\r\n$1\r\na\r\n"},
		{Push(Bulk("a")), "*1\r\n$1\r\na\r\n", ">1\r\n$1\r\na\r\n"},
	} {
		if got := string(Append(nil, c.reply, 2)); got != c.two {
			t.Errorf("RESP2 of %+v: got %q, want %q", c.reply, got, c.two)
		}
		if got := string(Append(nil, c.reply, 3)); got != c.three {
			t.Errorf("RESP3 of %+v: got %q, want %q", c.reply, got, c.three)
		}
	}
}
