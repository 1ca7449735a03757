package pubsub

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// The connection speaks RESP by this file and not through rueidis, whose reader ends the
// process when a server sends a reply that no command has asked for.

// Bounds on what a master may send.
const (
	// maxText is the longest text that is kept; of a longer one nothing is.
	maxText  = 2 << 20
	maxItems = 1 << 10
	maxDepth = 4
)

var errProtocol = errors.New("it does not speak Redis's protocol")

// appendCommand appends a command.
func appendCommand(b []byte, words ...string) []byte {
	b = appendCount(b, '*', len(words))
	for _, word := range words {
		b = append(appendCount(b, '$', len(word)), word...)
		b = append(b, '\r', '\n')
	}
	return b
}

func appendCount(b []byte, sign byte, n int) []byte {
	return append(strconv.AppendInt(append(b, sign), int64(n), 10), '\r', '\n')
}

// value is a reply, or a push.
type value struct {
	sign  byte // RESP's: '-' for an error, '>' for a push
	text  string
	items []value
	// cut reports whether a text in it was too long.
	cut bool
}

// readValue reads one value.
func readValue(r *bufio.Reader, depth int) (v value, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return v, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' || depth > maxDepth {
		return v, errProtocol
	}
	v.sign, v.text = line[0], string(line[1:len(line)-2])
	switch v.sign {
	case '+', '-', ':', '_', '#', ',', '(':
		return v, nil
	case '$', '=', '!':
		v.text, v.cut, err = readText(r, v.text)
		return v, err
	case '*', '~', '>', '%':
		n, err := strconv.Atoi(v.text)
		if v.sign == '%' {
			n *= 2
		}
		if err != nil || n > maxItems {
			return v, errProtocol
		}
		v.text = ""
		for range n {
			item, err := readValue(r, depth+1)
			if err != nil {
				return v, err
			}
			v.items, v.cut = append(v.items, item), v.cut || item.cut
		}
		return v, nil
	}
	return v, errProtocol
}

// readText reads a text of this length; it is empty if that is null, or too long, which cut
// reports.
func readText(r *bufio.Reader, length string) (text string, cut bool, err error) {
	n, err := strconv.Atoi(length)
	switch {
	case err != nil || n < -1:
		return "", false, errProtocol
	case n == -1:
		return "", false, nil
	case n > maxText:
		_, err := io.CopyN(io.Discard, r, int64(n)+2)
		return "", true, err
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", false, err
	}
	return string(b[:n]), false, nil
}
