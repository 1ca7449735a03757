package fakeredis

import (
	"bytes"
	"slices"
	"strconv"
	"time"
)

func (s *Server) accept(p *pipe) {
	s.nextID++
	p.id = s.nextID
	s.pipes = append(s.pipes, p)
}

// forget removes a connection that has ended.
func (s *Server) forget(p *pipe) {
	if at := slices.Index(s.pipes, p); at >= 0 {
		s.pipes = slices.Delete(s.pipes, at, at+1)
	}
}

// hangUp ends a connection from the server's side.
func (s *Server) hangUp(p *pipe) {
	p.unread, p.out.queue = nil, nil
	s.forget(p)
	p.push(&p.in, &p.Back, nil)
}

// CutAll ends all connections, as the network would: what is on its way still arrives.
func (s *Server) CutAll() {
	for _, p := range slices.Clone(s.pipes) {
		p.close()
	}
}

// receive takes what has arrived; no data is the end of the connection.
func (s *Server) receive(p *pipe, data []byte) {
	switch {
	case !slices.Contains(s.pipes, p):
	case len(data) > 0:
		p.unread = append(p.unread, data...)
		s.Work()
	case s.Frozen:
		p.unread = append(p.unread, "*1\r\n$4\r\nQUIT\r\n"...)
	default:
		s.Work()
		s.forget(p)
		delete(p.Wire.pipes, p)
	}
}

// Work carries out what has arrived: all commands of a connection at once, or, if the
// server is slow, one command after the other from all connections.
func (s *Server) Work() {
	if s.Frozen || s.Down || s.busy {
		return
	}
	if s.Slow > 0 && len(s.pipes) > 0 {
		at := s.Rand.IntN(len(s.pipes))
		for i := range s.pipes {
			if p := s.pipes[(at+i)%len(s.pipes)]; s.serve(p, 1) {
				s.busy = true
				time.AfterFunc(s.Slow, func() {
					s.Lock()
					defer s.Unlock()
					s.busy = false
					s.Work()
				})
				return
			}
		}
		return
	}
	for _, p := range slices.Clone(s.pipes) {
		switch {
		case p.waits:
		case s.Delay > 0:
			s.later(p)
		default:
			s.serve(p, 1<<30)
		}
	}
}

// later carries out the next command of a connection after faults.delay.
func (s *Server) later(p *pipe) {
	if _, _, ok := nextCommand(p.unread); !ok {
		return
	}
	p.waits = true
	time.AfterFunc(s.Delay, func() {
		s.Lock()
		defer s.Unlock()
		if p.waits = false; !s.Frozen && !s.Down {
			s.serve(p, 1)
			s.Work()
		}
	})
}

// serve carries out at most this many commands of a connection, and answers. It returns
// whether there were any.
func (s *Server) serve(p *pipe, most int) bool {
	var out []byte
	n := 0
	for ; n < most && slices.Contains(s.pipes, p); n++ {
		args, rest, ok := nextCommand(p.unread)
		if !ok {
			break
		}
		if p.unread = rest; args[0] == "QUIT" {
			s.forget(p)
			delete(p.Wire.pipes, p)
			return true
		}
		out = appendReply(out, s.command(p, args))
	}
	if len(out) > 0 && !p.dead {
		p.push(&p.in, &p.Back, out)
	}
	return n > 0
}

// nextCommand takes a command off what has arrived, if it is complete.
func nextCommand(b []byte) (args []string, rest []byte, ok bool) {
	line := func(kind byte) int {
		end := bytes.IndexByte(b, '\n')
		if end < 0 || b[0] != kind {
			return -1
		}
		n, _ := strconv.Atoi(string(b[1 : end-1]))
		b = b[end+1:]
		return n
	}
	n := line('*')
	for range n {
		size := line('$')
		if size < 0 || len(b) < size+2 {
			return nil, nil, false
		}
		args, b = append(args, string(b[:size])), b[size+2:]
	}
	return args, b, n > 0
}
