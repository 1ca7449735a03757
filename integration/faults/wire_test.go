package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// errReply is an error that redlockd answered.
type errReply string

func (e errReply) Error() string { return string(e) }

var errOtherProcess = errors.New("not sent: it would be to another process")

var errNull = errors.New("null")

// do makes one call and puts it into the history.
func (c *client) do(e *call, r int, args ...string) *call {
	c.send(e, r, args...)
	c.b.h.add(e)
	return e
}

// send makes one call.
func (c *client) send(e *call, r int, args ...string) {
	e.client, e.redlockd, e.old, e.n = c.id, r, c.old, int(c.b.calls.Add(1))
	e.undoes = c.b.old > 0 && e.kind == release && e.grant == 0
	// Now and then a client that does not wait, and is gone.
	wait := stay + slack + 3*time.Second
	switch {
	case c.rng.IntN(40) == 0:
		wait = time.Duration(1+c.rng.IntN(300)) * time.Millisecond
	case e.kind == acquire && c.rng.IntN(10) == 0:
		// It leaves while its lock is being taken, and asks elsewhere.
		wait = time.Duration(200+c.rng.IntN(2000)) * time.Microsecond
	}
	server := c.b.doors[r]
	e.sent = c.b.h.now()
	text, err := c.ask(r, wait, args...)
	e.got = c.b.h.now()
	if s := c.stamps[r]; s != nil && err == nil {
		e.left = e.got - time.Since(s.at)
	}
	calm := !server.disturbing.Load() && server.disturbed.Load() < int64(e.sent)
	e.frozen = !calm
	var told errReply
	switch {
	case e.tells && err == nil: // SET NX GET: the token that is in the way
		e.answer, e.value = no, text
	case e.tells && err == errNull:
		e.answer = yes
	case err == nil && text == "0" && e.kind != read:
		e.answer = no
	case err == nil:
		e.answer, e.value = yes, text
	case err == errNull:
		e.answer = no
	case errors.As(err, &told):
		e.answer, e.value = unknown, told.Error()
		if e.byTime && strings.HasPrefix(e.value, "ERR invalid expire time") {
			e.kind = overdue
			break
		}
		if !strings.HasPrefix(e.value, "NOQUORUM ") {
			c.b.h.violation("an error other than NOQUORUM: %v", e)
		}
	default:
		e.answer, e.value, e.answered = unknown, err.Error(), errors.Is(err, errAnswered)
		if calm && wait > time.Second && server.killed.Load() < int64(c.opened[r]) {
			e.amiss = "a broken connection or no answer"
		}
	}
	if calm && e.got-e.sent > stay+slack {
		e.amiss = "a late answer"
	}
}

// ask sends one command and reads its reply: a text, errNull, an errReply, or
// what broke the connection.
func (c *client) ask(r int, wait time.Duration, args ...string) (string, error) {
	if c.conns[r] == nil {
		conn, err := net.DialTimeout("tcp", c.b.doors[r].addr, time.Second)
		if err != nil {
			return "", err
		}
		// A key of one process is not asked of the next.
		if c.process != anyProcess && c.process != c.b.process.Load() {
			conn.Close()
			return "", errOtherProcess
		}
		c.conns[r], c.stamps[r], c.opened[r] = conn, newStamped(conn), c.b.h.now()
		c.bufs[r] = bufio.NewReader(conn)
		if c.stamps[r] != nil {
			c.bufs[r] = bufio.NewReader(c.stamps[r])
		}
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
		if errors.Is(err, os.ErrDeadlineExceeded) && hangUp(c.conns[r]) {
			err = fmt.Errorf("%w: %w", errAnswered, err)
		}
		c.conns[r].Close()
		c.conns[r] = nil
	}
	return text, err
}

var errAnswered = errors.New("answered as it hung up")

// hangUp ends what a client sends, and reports whether an answer comes all the same.
// Who is awake sees the end at once and closes the connection.
func hangUp(conn net.Conn) (answered bool) {
	if tcp, is := conn.(*net.TCPConn); !is || tcp.CloseWrite() != nil {
		return false
	}
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	n, _ := conn.Read(make([]byte, 1))
	return n > 0
}

func readReply(b *bufio.Reader) (string, error) {
	line, err := b.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	switch {
	case line == "$-1" || line == "*-1" || line == "_":
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
