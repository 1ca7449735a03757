package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Wire is one connection on which bytes are what is asserted.
type Wire struct {
	tb   testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// DialWire connects to a server.
func DialWire(tb testing.TB, addr string) *Wire {
	tb.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		tb.Fatalf("connecting to %s: %v", addr, err)
	}
	tb.Cleanup(func() { c.Close() })
	return &Wire{tb: tb, conn: c, r: bufio.NewReader(c)}
}

// Send writes bytes as they are.
func (w *Wire) Send(data []byte) {
	w.tb.Helper()
	w.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := w.conn.Write(data); err != nil {
		w.tb.Fatalf("sending %q: %v", short(data), err)
	}
}

// Frame reads one reply of RESP2 or RESP3 and returns its bytes.
func (w *Wire) Frame() []byte {
	w.tb.Helper()
	w.conn.SetReadDeadline(time.Now().Add(patience))
	frame, err := readFrame(w.r)
	if err != nil {
		w.tb.Fatalf("reading a reply: %v (so far: %q)", err, short(frame))
	}
	return frame
}

// Ask sends one command and returns the bytes of its reply.
func (w *Wire) Ask(args ...string) string {
	w.tb.Helper()
	w.Send(command(args...))
	return string(w.Frame())
}

// Close closes the connection as a client that leaves does.
func (w *Wire) Close() { w.conn.Close() }

// command is a command as clients send it.
func command(args ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.Bytes()
}

// readFrame returns the bytes of one reply, also of a broken one.
func readFrame(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return line, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return line, fmt.Errorf("a line of a reply is %q", line)
	}
	n, nerr := strconv.Atoi(string(line[1 : len(line)-2]))
	switch line[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return line, nil
	case '$', '=', '!':
		if nerr != nil || n < 0 {
			return line, nerr
		}
		data := make([]byte, n+2)
		_, err := readFull(r, data)
		return append(line, data...), err
	case '%', '|':
		n *= 2
	case '*', '~', '>':
	default:
		return line, fmt.Errorf("a reply begins with %q", line)
	}
	if nerr != nil {
		return line, nerr
	}
	for range n {
		part, err := readFrame(r)
		line = append(line, part...)
		if err != nil {
			return line, err
		}
	}
	return line, nil
}

func readFull(r *bufio.Reader, data []byte) (int, error) {
	n := 0
	for n < len(data) {
		m, err := r.Read(data[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// number returns the value of an integer reply.
func number(frame string) (int64, bool) {
	if !strings.HasPrefix(frame, ":") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(frame[1:], "\r\n"), 10, 64)
	return n, err == nil
}

func short(b []byte) string {
	if len(b) > 300 {
		return string(b[:300]) + "..."
	}
	return string(b)
}
