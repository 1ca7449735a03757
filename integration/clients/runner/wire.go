package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"time"
)

// wire is a connection that sends commands and reads replies as one line.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	err  error
}

func dial(addr string) (*wire, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return &wire{conn: conn, in: bufio.NewReader(conn)}, nil
}

func (w *wire) do(words ...string) string {
	if w.err != nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, w.err = w.conn.Write([]byte(b.String())); w.err != nil {
		return ""
	}
	var reply string
	reply, w.err = readReply(w.in)
	return reply
}
