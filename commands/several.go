package commands

import (
	"errors"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// msetnx is MSETNX: an acquire of several locks, all or none, without a TTL
// (C2).
func msetnx(c call) Request {
	if len(c.args)%2 == 0 {
		return refuse(wrongArity(c.spec.Name))
	}
	if _, refused := c.in.noExpiry(); refused != "" {
		return refuse(refused)
	}
	return allOrNone(c).with(MayAcquire)
}

// msetex is MSETEX of Redis 8.4: an acquire of several locks with NX, else an
// unconditional store.
func msetex(c call) Request {
	o, ok := msetexOptions(c)
	switch {
	case o.NX:
		return allOrNone(c).with(MayAcquire)
	case ok && c.denied():
		return denied(c.spec.Name)
	}
	return allOrNone(c).with(MayRemove)
}

// msetexConditional is Spec.conditional of MSETEX.
func msetexConditional(c call) bool {
	o, ok := msetexOptions(c)
	return !ok || o.NX
}

// msetexOptions parses the options behind the pairs; false if they are wrong.
func msetexOptions(c call) (setOptions, bool) {
	n, ok := resp.ParseInt(c.args[1])
	if !ok || n < 1 || n > int64(len(c.args)-2)/2 {
		return setOptions{}, false
	}
	return parseSet(c.args[2+2*n:])
}

// allOrNone translates a command on several keys as EXEC does, into one conditional
// operation.
func allOrNone(c call) Request {
	var sc script.Command
	for _, word := range c.args {
		sc.Words = append(sc.Words, string(word))
	}
	m, err := c.in.scripts.Transact(c.db, []script.Command{sc})
	if err != nil {
		return refuse(severalError(c.spec.Name, err))
	}
	t := transaction{in: c.in, db: c.db, meaning: m, name: c.spec.Name}
	t.authorized.words = clones(c.args[1:])
	req := t.request()
	array := req.Reply
	req.Reply = func(outs []*quorum.Outcome) resp.Reply {
		r := array(outs)
		if r.Kind == resp.KindArray {
			return r.Items[0]
		}
		return r
	}
	return req
}

func severalError(name string, err error) string {
	var refused *script.RefusedError
	if errors.As(err, &refused) {
		return oneLine("ERR '" + name + "' cannot be carried out: it " + refused.Did)
	}
	return oneLine(err.Error())
}
