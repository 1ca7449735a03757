package commands

import (
	"errors"

	"github.com/redlockd/redlockd/quorum"
)

// ReplyKind is the RESP type of a reply. Types that RESP2 does not have are
// written by the session as Redis writes them to a RESP2 client.
type ReplyKind uint8

const (
	// KindNull is $-1 in RESP2 and _ in RESP3.
	KindNull ReplyKind = iota
	// KindNullArray is *-1 in RESP2 and _ in RESP3 (a failed EXEC).
	KindNullArray
	// KindStatus is a simple string: +OK.
	KindStatus
	// KindError is -CODE text; Text holds both.
	KindError
	// KindInt is :n.
	KindInt
	// KindBulk is $n.
	KindBulk
	// KindVerbatim is =n txt: in RESP3 and a bulk string in RESP2 (INFO).
	KindVerbatim
	// KindArray is *n.
	KindArray
	// KindMap is %n in RESP3 and a flat array in RESP2; Items are key, value,
	// key, value.
	KindMap
	// KindSet is ~n in RESP3 and an array in RESP2.
	KindSet
	// KindPush is >n in RESP3 and an array in RESP2.
	KindPush
)

// Reply is one reply, without its encoding. The zero value is the null.
type Reply struct {
	Kind ReplyKind
	// Undecided says of an error that nobody can tell what has become of the
	// command (quorum.UndecidedError).
	Undecided bool

	Int   int64
	Text  string
	Items []Reply
}

// Replies that never change.
var (
	OK        = Reply{Kind: KindStatus, Text: "OK"}
	Queued    = Reply{Kind: KindStatus, Text: "QUEUED"}
	Pong      = Reply{Kind: KindStatus, Text: "PONG"}
	Null      = Reply{Kind: KindNull}
	NullArray = Reply{Kind: KindNullArray}
)

// Int returns an integer reply.
func Int(n int64) Reply { return Reply{Kind: KindInt, Int: n} }

// Bulk returns a bulk string reply; s is any bytes.
func Bulk(s string) Reply { return Reply{Kind: KindBulk, Text: s} }

// Array returns an array reply.
func Array(items ...Reply) Reply { return Reply{Kind: KindArray, Items: items} }

// Error returns an error reply; text begins with its code, as in "ERR syntax
// error", and holds no line breaks.
func Error(text string) Reply { return Reply{Kind: KindError, Text: text} }

func status(text string) Reply { return Reply{Kind: KindStatus, Text: text} }

// Failed returns the error reply to what package quorum could not do.
func Failed(err error) Reply {
	var undecided *quorum.UndecidedError
	return Reply{Kind: KindError, Undecided: errors.As(err, &undecided), Text: oneLine(err.Error())}
}
