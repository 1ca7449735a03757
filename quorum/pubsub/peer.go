package pubsub

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

const (
	// stuckAfter is when a connection that does not answer is closed.
	stuckAfter = 2 * time.Second
	// stale is when a message that waits for a connection is not worth sending any more. Its
	// id is still known then to those that have another copy.
	stale = time.Second
)

var (
	errRefused = errors.New("the master refuses what messages need")
	// errPlain is that of the required master, as long as it may refuse only what is plain.
	errPlain = errors.New("the master refuses plain messages")
)

// peer is the connection to one master, from one to the next. The bus's mutex guards its
// fields.
type peer struct {
	bus *Bus
	// bit stands for it in an entry.
	bit    uint64
	master cluster.Master
	ctx    context.Context
	cancel context.CancelFunc

	// conn is the connection in use, runID the server's that it leads to.
	conn  net.Conn
	runID string
	// out waits to be written; ready is signalled when there is some. Without a connection
	// it has only messages, the first of them since then.
	out   []byte
	since time.Duration
	ready *sync.Cond
	// probed is when the master was asked for a sign of life, 0 if it has given that.
	probed time.Duration
	// refused reports whether the master has refused a right, refusal is what the log has
	// told of that. noPlain reports whether the next connection does without plain names.
	refused, noPlain bool
	refusal          string
}

func newPeer(b *Bus, m cluster.Master) *peer {
	p := &peer{bus: b, master: m, ready: sync.NewCond(&b.mu)}
	p.ctx, p.cancel = context.WithCancel(b.ctx)
	return p
}

// reconfigure has the next connection use m, and ends this one if m's address or
// credentials differ. The caller must hold mu.
func (p *peer) reconfigure(m cluster.Master) {
	same := p.master.SameConnection(m) && p.master.Required == m.Required
	if p.master = m; !same {
		p.hangUp()
	}
}

// end ends the connection, after what waits was written, and the goroutine. The caller must
// hold mu.
func (p *peer) end() {
	p.cancel()
	if p.conn != nil {
		_ = p.conn.SetWriteDeadline(time.Now().Add(lastWrite)) // an error shows at Write
	}
	p.bus.names.lose(p.bit)
	p.bit = 0
	p.ready.Broadcast()
}

// hangUp closes the connection. The caller must hold mu.
func (p *peer) hangUp() {
	if conn := p.conn; conn != nil {
		p.conn, p.out = nil, nil
		p.bus.names.lose(p.bit)
		p.ready.Broadcast()
		p.bus.wg.Go(func() { _ = conn.Close() }) // closing TLS writes
	}
}

// offer adds messages to what waits, if there is room. The caller must hold mu.
func (p *peer) offer(messages []byte) {
	if p.conn == nil {
		if now := p.bus.now(); len(p.out) == 0 || now-p.since > stale {
			p.out, p.since = p.out[:0], now
		}
	}
	if p.refused || len(p.out)+len(messages) > maxOut {
		p.bus.dropped.Add(1)
		return
	}
	p.out = append(p.out, messages...)
	p.ready.Signal()
}

// ask subscribes to a name, or ends that. The caller must hold mu.
func (p *peer) ask(n name, subscribe bool) {
	if p.conn == nil || n.plain && (!p.master.Required || p.noPlain) {
		return
	}
	command := "SUBSCRIBE"
	switch {
	case n.pattern && subscribe:
		command = "PSUBSCRIBE"
	case n.pattern:
		command = "PUNSUBSCRIBE"
	case !subscribe:
		command = "UNSUBSCRIBE"
	}
	p.out = appendCommand(p.out, command, n.text)
	p.ready.Signal()
}

// probe asks for a sign of life, and closes a connection that has not given one, that has
// too much waiting, or that leads to another server than operations use. The caller must
// hold mu.
func (p *peer) probe(now time.Duration, hears bool) {
	other := p.bus.cfg.RunID(p.master.Name)
	switch {
	case p.conn == nil:
	case p.probed > 0 && now-p.probed >= stuckAfter, len(p.out) > 2*maxOut, other != "" && p.runID != "" && other != p.runID:
		p.hangUp()
	case p.probed == 0:
		p.probed = max(now, 1)
		p.ask(name{text: crowded}, hears) // which it has already
	}
}

// confirmed notes that the master has done what it was asked for.
func (p *peer) confirmed(conn net.Conn, what, text string) {
	p.bus.mu.Lock()
	defer p.bus.mu.Unlock()
	if p.conn != conn {
		return
	}
	p.refused = false
	if text == crowded {
		p.probed = 0
	}
	if what != "unsubscribe" {
		p.bus.names.confirm(name{text: text, pattern: what == "psubscribe"}, p.bit, p.bus.quorum())
	}
}

// refuse returns the error that ends the connection, since the master has answered one. Of
// a right that is missing it logs that once. The required master may refuse only what is
// plain, so it is tried without that before.
func (p *peer) refuse(text string) error {
	p.bus.mu.Lock()
	defer p.bus.mu.Unlock()
	text = text[:min(len(text), 200)]
	if !strings.HasPrefix(text, "NOPERM") && !strings.Contains(text, "unknown command") {
		return errors.New(text) // it is busy, or the like
	}
	refusal, _, _ := strings.Cut(text, " access ") // a channel, whichever
	if refusal != p.refusal && p.ctx.Err() == nil {
		p.bus.cfg.Log.Warn("a master refuses messages between redlockd", "master", p.master.Name, "error", strings.TrimSpace(text))
	}
	p.refusal = refusal
	if p.master.Required && !p.noPlain {
		return errPlain
	}
	p.refused = true
	if p.bus.hopeless() {
		for _, e := range p.bus.names.all {
			e.tell()
		}
	}
	return errRefused
}
