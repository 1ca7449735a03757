package commands

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// maxKeys bounds the keys that one request may change together.
const maxKeys = 32

// Request is a translated command: the operations it means, which may be carried out side
// by side, and the shape of its reply. Without operations the reply does not depend on
// the masters.
type Request struct {
	Ops []quorum.Op
	// Reply makes the reply, once, from the outcomes in the order of Ops. An outcome with
	// Err makes the whole reply that error.
	Reply func([]*quorum.Outcome) resp.Reply
	// Notices, if not nil, returns the notices to give when all outcomes have arrived;
	// none if nothing was done.
	Notices func([]*quorum.Outcome) []Notice

	// List, if not nil, changes the reply for each of the Ops whose key is also the name
	// of a signal list, which is on no master.
	List func(r *resp.Reply, left time.Duration)

	// Sweep, if not nil, means that the command needs all keys of a pattern: once they
	// are listed, Sweep.Understand returns what it means. Reply is the error for callers
	// that cannot list them.
	Sweep *Sweep

	// needs is what the request needs besides what its Ops imply; noRight is the error
	// text if the client may not carry it out, or "".
	needs   Operations
	noRight string
}

// with returns the request with more needs.
func (req Request) with(needs Operations) Request {
	req.needs |= needs
	return req
}

// answer returns a request that needs no masters.
func answer(r resp.Reply) Request {
	return Request{Reply: func([]*quorum.Outcome) resp.Reply { return r }}
}

// refuse returns a request that is answered by an error.
func refuse(text string) Request { return answer(resp.Error(text)) }

// forbid returns a request to which the client has no right; text is the error.
func forbid(text string) Request {
	req := refuse(text)
	req.noRight = text
	return req
}

// denied returns the answer to a command that the configuration refuses.
func denied(name string) Request { return refuse(deniedText(name)) }
