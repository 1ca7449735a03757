package fakeredis

import (
	"fmt"
	"strconv"
)

// A server's replies are nil, int64, string (a bulk), status, failure, pairs, push and []any.
type (
	status  string
	failure string
	pairs   []any
	push    []any
)

const wrongType = failure("WRONGTYPE Operation against a key holding the wrong kind of value")

// timeReply is the answer of TIME for a time in microseconds.
func timeReply(now int64) any {
	return []any{strconv.FormatInt(now/1e6, 10), strconv.FormatInt(now%1e6, 10)}
}

// appendReply appends a reply in RESP3.
func appendReply(b []byte, r any) []byte {
	switch r := r.(type) {
	case nil:
		return append(b, "_\r\n"...)
	case int64:
		return fmt.Appendf(b, ":%d\r\n", r)
	case string:
		return fmt.Appendf(b, "$%d\r\n%s\r\n", len(r), r)
	case status:
		return fmt.Appendf(b, "+%s\r\n", r)
	case failure:
		return fmt.Appendf(b, "-%s\r\n", r)
	case pairs:
		b = fmt.Appendf(b, "%%%d\r\n", len(r)/2)
		for _, item := range r {
			b = appendReply(b, item)
		}
		return b
	case []any:
		return appendItems(b, '*', r)
	case push:
		return appendItems(b, '>', r)
	default:
		panic(fmt.Sprintf("no reply is a %T", r))
	}
}

func appendItems(b []byte, sign byte, items []any) []byte {
	b = fmt.Appendf(b, "%c%d\r\n", sign, len(items))
	for _, item := range items {
		b = appendReply(b, item)
	}
	return b
}
