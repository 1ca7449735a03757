package proxy

import (
	"strconv"

	"github.com/tidwall/redcon"

	"github.com/redlockd/redlockd/commands"
)

// appendReply appends the encoding of r for protocol 2 or 3 (C1).
func appendReply(b []byte, r commands.Reply, proto int) []byte {
	switch r.Kind {
	case commands.KindNull:
		if proto == 3 {
			return append(b, "_\r\n"...)
		}
		return redcon.AppendNull(b)
	case commands.KindNullArray:
		if proto == 3 {
			return append(b, "_\r\n"...)
		}
		return append(b, "*-1\r\n"...)
	case commands.KindStatus:
		return redcon.AppendString(b, r.Text)
	case commands.KindError:
		return redcon.AppendError(b, r.Text)
	case commands.KindInt:
		return redcon.AppendInt(b, r.Int)
	case commands.KindBulk:
		return redcon.AppendBulkString(b, r.Text)
	case commands.KindVerbatim:
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

func appendItems(b []byte, r commands.Reply, proto int) []byte {
	sign, n := byte('*'), len(r.Items)
	if proto == 3 {
		switch r.Kind {
		case commands.KindMap:
			sign, n = '%', n/2
		case commands.KindSet:
			sign = '~'
		case commands.KindPush:
			sign = '>'
		}
	}
	b = appendCount(b, sign, n)
	for _, item := range r.Items {
		b = appendReply(b, item, proto)
	}
	return b
}

func appendCount(b []byte, sign byte, n int) []byte {
	b = append(b, sign)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

// replySize estimates the memory a reply holds while it waits.
func replySize(r commands.Reply) int {
	n := len(r.Text) + 64
	for _, item := range r.Items {
		n += replySize(item)
	}
	return n
}
