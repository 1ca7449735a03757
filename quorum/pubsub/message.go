package pubsub

import (
	"encoding/binary"
	"strings"
	"time"
)

// Prefix begins the names of the channels by which messages travel.
const Prefix = "redlockd:"

// crowded is the channel on which many messages travel as one. Whoever subscribes to any
// name hears it.
const crowded = Prefix

// Plain is the Kind of a message that somebody has published on a master without redlockd.
const Plain byte = 0

// Message is what is published. Channel is its name; Kind and Parts are the publisher's
// business. Pattern is, for a Plain one, the pattern by which it was heard, or empty.
type Message struct {
	Kind    byte
	Channel string
	Parts   []string
	Pattern string
}

// size returns about how many bytes the message takes.
func (m *Message) size() int {
	n := 64 + len(m.Channel)
	for _, part := range m.Parts {
		n += 8 + len(part)
	}
	return n
}

// A payload is the format's number, an id, and one or more messages.
const (
	format   = '1'
	selfSize = 8
	idSize   = selfSize + 8
)

// id is that of a payload: the redlockd that sent it, and a number.
type id [idSize]byte

// appendMessage appends one message to a payload.
func appendMessage(b []byte, m *Message) []byte {
	b = appendText(append(b, m.Kind), m.Channel)
	b = binary.AppendUvarint(b, uint64(len(m.Parts)))
	for _, part := range m.Parts {
		b = appendText(b, part)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// splitPayload returns the id of a payload and its messages, still encoded.
func splitPayload(payload string) (of id, messages string, ok bool) {
	if len(payload) <= idSize || payload[0] != format {
		return of, "", false
	}
	copy(of[:], payload[1:])
	return of, payload[1+idSize:], true
}

// readMessages decodes messages; it returns false if they are none.
func readMessages(text string) (list []Message, ok bool) {
	r := reader{text}
	for r.left != "" {
		m := Message{Kind: r.left[0]}
		r.left = r.left[1:]
		if m.Channel, ok = r.text(); !ok || m.Kind == Plain {
			return nil, false
		}
		n, ok := r.number()
		if !ok || n > maxItems {
			return nil, false
		}
		for range n {
			part, ok := r.text()
			if !ok {
				return nil, false
			}
			m.Parts = append(m.Parts, part)
		}
		list = append(list, m)
	}
	return list, true
}

// reader decodes what appendMessage has appended.
type reader struct{ left string }

func (r *reader) number() (uint64, bool) {
	n, size := binary.Uvarint([]byte(r.left[:min(len(r.left), binary.MaxVarintLen64)]))
	if size <= 0 {
		return 0, false
	}
	r.left = r.left[size:]
	return n, true
}

func (r *reader) text() (string, bool) {
	n, ok := r.number()
	if !ok || n > uint64(len(r.left)) {
		return "", false
	}
	text := r.left[:n]
	r.left = r.left[n:]
	return text, true
}

const (
	// rememberFor is for how long an id is remembered at least: the copies of a message
	// come over several masters.
	rememberFor = 10 * time.Second
	// maxIDs bounds the ids of one half of the memory. Beyond it the older half is
	// forgotten, and a copy that comes late may be delivered twice.
	maxIDs = 1 << 15
)

// seen are the ids that have arrived lately.
type seen struct {
	ids, before map[id]struct{}
	began       time.Duration // ids
}

// first notes an id that arrives now, and reports whether it is new.
func (s *seen) first(of id, now time.Duration) bool {
	s.forget(now)
	if len(s.ids) >= maxIDs {
		s.turn(now)
	}
	_, known := s.ids[of]
	_, knownBefore := s.before[of]
	if known || knownBefore {
		return false
	}
	s.ids[of] = struct{}{}
	return true
}

// forget drops what has been remembered for long enough.
func (s *seen) forget(now time.Duration) {
	if s.ids == nil || now-s.began >= 2*rememberFor {
		s.ids = nil
		s.turn(now)
	}
	if now-s.began >= rememberFor {
		s.turn(now)
	}
}

func (s *seen) turn(now time.Duration) {
	s.before, s.ids, s.began = s.ids, map[id]struct{}{}, now
}

// wire returns the name on a master by which a name is heard.
func wire(name string) string { return Prefix + name }

// foreign reports whether a channel is none of a Bus.
func foreign(channel string) bool { return !strings.HasPrefix(channel, Prefix) }
