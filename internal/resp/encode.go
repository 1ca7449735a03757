package resp

import (
	"strconv"

	"github.com/tidwall/redcon"
)

// Append appends the encoding of r for protocol 2 or 3 (C1).
func Append(b []byte, r Reply, proto int) []byte {
	switch r.Kind {
	case KindNull:
		if proto == 3 {
			return append(b, "_\r\n"...)
		}
		return redcon.AppendNull(b)
	case KindNullArray:
		if proto == 3 {
			return append(b, "_\r\n"...)
		}
		return append(b, "*-1\r\n"...)
	case KindStatus:
		return redcon.AppendString(b, r.Text)
	case KindError:
		return redcon.AppendError(b, r.Text)
	case KindInt:
		return redcon.AppendInt(b, r.Int)
	case KindBulk:
		return redcon.AppendBulkString(b, r.Text)
	case KindVerbatim:
		return appendVerbatim(b, r.Text, proto)
	}
	return appendItems(b, r, proto)
}

func appendVerbatim(b []byte, text string, proto int) []byte {
	if proto != 3 {
		return redcon.AppendBulkString(b, text)
	}
	b = appendCount(b, '=', len(text)+len("txt:"))
	b = append(b, "txt:"...)
	b = append(b, text...)
	return append(b, "\r\n"...)
}

func appendItems(b []byte, r Reply, proto int) []byte {
	sign, n := byte('*'), len(r.Items)
	if proto == 3 {
		switch r.Kind {
		case KindMap:
			sign, n = '%', n/2
		case KindSet:
			sign = '~'
		case KindPush:
			sign = '>'
		}
	}
	b = appendCount(b, sign, n)
	for _, item := range r.Items {
		b = Append(b, item, proto)
	}
	return b
}

func appendCount(b []byte, sign byte, n int) []byte {
	b = append(b, sign)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

// Size estimates how much memory a reply takes while it waits.
func Size(r Reply) int {
	n := len(r.Text) + 64
	for _, item := range r.Items {
		n += Size(item)
	}
	return n
}
