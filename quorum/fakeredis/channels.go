package fakeredis

import (
	"path"
	"strings"
)

// subscribe carries out SUBSCRIBE, PSUBSCRIBE and their opposites, for one name.
func (s *Server) subscribe(p *pipe, name string, args []string) any {
	names := &p.session.channels
	if strings.HasPrefix(name, "P") {
		names = &p.session.patterns
	}
	if *names == nil {
		*names = map[string]bool{}
	}
	if strings.Contains(name, "UNSUB") {
		delete(*names, args[1])
	} else {
		(*names)[args[1]] = true
	}
	return push{strings.ToLower(name), args[1], int64(len(p.session.channels) + len(p.session.patterns))}
}

// Publish carries out PUBLISH: a message for each subscription that fits. It returns their
// number.
func (s *Server) Publish(channel, text string) (n int) {
	for _, p := range s.pipes {
		if p.session.channels[channel] {
			n++
			p.push(&p.in, &p.Back, appendReply(nil, push{"message", channel, text}))
		}
		for pattern := range p.session.patterns {
			if fits, _ := path.Match(pattern, channel); fits {
				n++
				p.push(&p.in, &p.Back, appendReply(nil, push{"pmessage", pattern, channel, text}))
			}
		}
	}
	return n
}
