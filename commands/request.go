package commands

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// maxKeys bounds the keys that one request may change together.
const maxKeys = 32

// Request is an understood command: the operations it means, which may be
// carried out side by side, and the shape of its reply. Without operations
// the reply does not depend on the masters.
type Request struct {
	Ops []quorum.Op
	// Reply fills the shape, once, with the outcomes in the order of Ops. An
	// outcome with Err makes the whole reply that error.
	Reply func([]*quorum.Outcome) resp.Reply
	// Notices, if not nil, are what those who wait for a lock are to be told
	// when the outcomes are there; none where nothing was done.
	Notices func([]*quorum.Outcome) []Notice

	// List, if not nil, is what the reply becomes for each of the Ops whose key is
	// also that of a signal list with some time left, which no master has.
	List func(r *resp.Reply, left time.Duration)

	// Sweep, if not nil, says that the command asks for all keys of a pattern:
	// where they can be listed, what it means is told by Sweep.Understand. Reply
	// is the refusal for where they cannot.
	Sweep *Sweep

	// needs is what the request needs besides what its Ops tell; forbidden is
	// why the client may not carry it out, or "".
	needs     Operations
	forbidden string
}

// with is the request that needs more.
func (req Request) with(needs Operations) Request {
	req.needs |= needs
	return req
}

// answer is a request that needs no masters.
func answer(r resp.Reply) Request {
	return Request{Reply: func([]*quorum.Outcome) resp.Reply { return r }}
}

// refuse is a request that is answered by an error.
func refuse(text string) Request { return answer(resp.Error(text)) }

// forbid is a request that the client has no right to; text says to what of it.
func forbid(text string) Request {
	req := refuse(text)
	req.forbidden = text
	return req
}

// denied is a request that the configuration refuses.
func denied(name string) Request { return refuse(deniedText(name)) }
