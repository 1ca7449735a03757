package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// errReply is an error that redlockd answered.
type errReply string

func (e errReply) Error() string { return string(e) }

var errNull = errors.New("null")

// ask sends one command and reads its reply: a text, errNull, an errReply, or
// what broke the connection.
func (c *client) ask(r int, wait time.Duration, args ...string) (string, error) {
	if c.conns[r] == nil {
		conn, err := net.DialTimeout("tcp", c.b.doors[r].addr, time.Second)
		if err != nil {
			return "", err
		}
		c.conns[r], c.bufs[r], c.opened[r] = conn, bufio.NewReader(conn), c.b.h.now()
	}
	var w strings.Builder
	fmt.Fprintf(&w, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&w, "$%d\r\n%s\r\n", len(a), a)
	}
	_ = c.conns[r].SetDeadline(time.Now().Add(wait))
	text, err := "", error(nil)
	if _, err = io.WriteString(c.conns[r], w.String()); err == nil {
		text, err = readReply(c.bufs[r])
	}
	var told errReply
	if err != nil && err != errNull && !errors.As(err, &told) {
		c.conns[r].Close()
		c.conns[r] = nil
	}
	return text, err
}

func readReply(b *bufio.Reader) (string, error) {
	line, err := b.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	switch {
	case line == "$-1" || line == "_":
		return "", errNull
	case line[0] == '-':
		return "", errReply(line[1:])
	case line[0] == '$':
		n, _ := strconv.Atoi(line[1:])
		buf := make([]byte, n+2)
		if _, err := io.ReadFull(b, buf); err != nil {
			return "", err
		}
		return string(buf[:n]), nil
	default:
		return line[1:], nil
	}
}
