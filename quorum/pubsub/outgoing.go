package pubsub

import (
	"encoding/binary"
	"time"
)

// What is published goes out at once, unless much is: then it gathers, since each write
// costs both sides more than a message does.
const (
	// heardEvery is the mean time between two writes to a master, at the least, while somebody
	// hears what is published and few messages gather; mostEvery that where nobody has heard
	// one for unheardAfter, or many gather. burst is how many of the latter may follow one
	// another without a pause.
	heardEvery   = 2 * time.Millisecond
	mostEvery    = 20 * time.Millisecond
	unheardAfter = time.Second
	burst        = 16
	// crowd is how many messages travel as one.
	crowd = 8
	// maxPayload is about the greatest size of such a one.
	maxPayload = 64 << 10
	// maxPending bounds the bytes of what gathers, and maxOut those that wait for one
	// master. What is published beyond them is dropped.
	maxPending = 1 << 20
	maxOut     = 2 << 20
)

// outgoing is what gathers. The bus's mutex guards it.
type outgoing struct {
	pending []Message
	bytes   int
	// credit is how much time was not used for writes, up to a bound, at the time last.
	credit, last time.Duration
	timer        *time.Timer // runs while something gathers
	waiting      bool
	next         uint64 // the number of the next payload
	payload, out []byte
}

// may reports whether a write may go out now, if there may be one in every so long; if not,
// wait is when it may.
func (o *outgoing) may(now, every time.Duration) (wait time.Duration, ok bool) {
	o.credit, o.last = min(o.credit+now-o.last, burst*mostEvery), now
	if o.credit < every {
		return every - o.credit, false
	}
	o.credit -= every
	return 0, true
}

// Publish sends a message to every other instance that subscribes to its channel. Nobody
// waits for it, and it is dropped where too much waits already.
func (b *Bus) Publish(kind byte, channel string, parts ...string) {
	m := Message{Kind: kind, Channel: channel, Parts: parts}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.start() || len(b.peers) == 0 {
		return
	}
	size := m.size()
	if b.outgoing.bytes+size > maxPending {
		b.dropped.Add(1)
		return
	}
	b.outgoing.pending = append(b.outgoing.pending, m)
	b.outgoing.bytes += size
	if !b.outgoing.waiting {
		b.send()
	}
}

// send sends what has gathered, now or as soon as it may. The caller must hold mu.
func (b *Bus) send() {
	o, now, every := &b.outgoing, b.now(), mostEvery
	if len(o.pending) < crowd && now-time.Duration(b.lastHeard.Load()) < unheardAfter {
		every = heardEvery
	}
	if wait, ok := o.may(now, every); !ok {
		o.waiting = true
		if o.timer == nil {
			o.timer = time.AfterFunc(wait, b.sendLater)
		} else {
			o.timer.Reset(wait)
		}
		return
	}
	b.flush()
}

func (b *Bus) sendLater() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outgoing.waiting = false
	if !b.closing && len(b.outgoing.pending) > 0 {
		b.send()
	}
}

// flush sends what has gathered. The caller must hold mu.
func (b *Bus) flush() {
	o := &b.outgoing
	o.out = o.out[:0]
	crowds := len(o.pending) >= crowd
	b.crowds.Store(crowds)
	if !crowds {
		for i := range o.pending {
			b.begin()
			o.payload = appendMessage(o.payload, &o.pending[i])
			b.finish(wire(o.pending[i].Channel))
		}
	} else {
		b.begin()
		for i := range o.pending {
			if len(o.payload) > maxPayload {
				b.finish(crowded)
				b.begin()
			}
			o.payload = appendMessage(o.payload, &o.pending[i])
		}
		b.finish(crowded)
	}
	b.sent.Add(uint64(len(o.pending)))
	for _, p := range b.peers {
		p.offer(o.out)
	}
	clear(o.pending)
	o.pending, o.bytes = o.pending[:0], 0
	if cap(o.out) > 4*maxPayload {
		o.out, o.pending = nil, nil
	}
}

// begin begins a payload, with the next id.
func (b *Bus) begin() {
	o := &b.outgoing
	o.payload = append(append(o.payload[:0], format), b.self[:]...)
	o.payload = binary.BigEndian.AppendUint64(o.payload, o.next)
	o.next++
}

// finish appends the payload to what goes out, as a message on this channel.
func (b *Bus) finish(channel string) {
	o := &b.outgoing
	o.out = appendCommand(o.out, "PUBLISH", channel, string(o.payload))
}
