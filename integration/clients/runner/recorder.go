package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// said is one command, or one reply, that passed.
type said struct {
	at    time.Duration
	conn  int
	words []string // a command's
	reply string   // or a reply, shortened; one line
}

// keepMost bounds what a recorder keeps.
const keepMost = 200_000

// Recorder is a forwarder in front of one server for one run of one program.
type recorder struct {
	addr, to string
	listener net.Listener
	start    time.Time

	mu    sync.Mutex
	said  []said
	conns []net.Conn
	wg    sync.WaitGroup
}

func newRecorder(to string) (*recorder, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &recorder{addr: ln.Addr().String(), to: to, listener: ln, start: time.Now()}
	r.wg.Go(r.accept)
	return r, nil
}

func (r *recorder) accept() {
	for n := 1; ; n++ {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.to)
		if err != nil {
			client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		r.wg.Go(func() { r.forward(n, server, client, r.command) })
		r.wg.Go(func() { r.forward(n, client, server, r.reply) })
	}
}

// forward copies first and looks at the copy: what it cannot read, it passes
// on all the same.
func (r *recorder) forward(n int, to, from net.Conn, read func(int, *bufio.Reader) error) {
	copied, feed := io.Pipe()
	r.wg.Go(func() {
		in := bufio.NewReader(copied)
		for read(n, in) == nil {
		}
		_, _ = io.Copy(io.Discard, copied)
	})
	_, _ = io.Copy(io.MultiWriter(to, feed), from) // an end is an end, whoever made it
	feed.Close()
	if half, is := to.(*net.TCPConn); is {
		_ = half.CloseWrite()
	}
}

func (r *recorder) keep(s said) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.said) < keepMost {
		s.at = time.Since(r.start)
		r.said = append(r.said, s)
	}
}

func (r *recorder) command(n int, in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "*") {
		r.keep(said{conn: n, words: strings.Fields(line)})
		return nil
	}
	count, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil {
		return err
	}
	words := make([]string, 0, max(count, 0))
	for range count {
		if line, err = in.ReadString('\n'); err != nil {
			return err
		}
		size, err := strconv.Atoi(strings.TrimSpace(line[1:]))
		if err != nil {
			return err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		words = append(words, string(text[:size]))
	}
	r.keep(said{conn: n, words: words})
	return nil
}

func (r *recorder) reply(n int, in *bufio.Reader) error {
	text, err := readReply(in)
	if err == nil {
		r.keep(said{conn: n, reply: text})
	}
	return err
}

// readReply reads one reply of RESP2 or RESP3 and writes it on one line.
func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", fmt.Errorf("an empty line")
	}
	switch line[0] {
	case '$', '=':
		size, err := strconv.Atoi(line[1:])
		if err != nil || size < 0 {
			return line, err
		}
		text := make([]byte, size+2)
		_, err = io.ReadFull(in, text)
		return line[:1] + strconv.Quote(string(text[:size])), err
	case '*', '~', '>', '%':
		count, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		if line[0] == '%' {
			count *= 2
		}
		for range count {
			inner, err := readReply(in)
			if err != nil {
				return "", err
			}
			line += " " + inner
		}
		return line, nil
	default:
		return line, nil
	}
}

// stop closes everything and returns what passed.
func (r *recorder) stop() []said {
	r.listener.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
	return r.said
}

func writeTrace(file string, all []said) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%9.3f #%-3d ", s.at.Seconds(), s.conn)
		if s.words == nil {
			fmt.Fprintf(&b, "    <- %s\n", short(s.reply, 500))
			continue
		}
		for _, w := range s.words {
			fmt.Fprintf(&b, "%q ", short(w, 2000))
		}
		b.WriteString("\n")
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
