package resp

// Kind is the RESP type of a reply. Types that RESP2 does not have are encoded as Redis
// encodes them for a RESP2 client.
type Kind uint8

const (
	// KindNull is $-1 in RESP2 and _ in RESP3.
	KindNull Kind = iota
	// KindNullArray is *-1 in RESP2 and _ in RESP3 (a failed EXEC).
	KindNullArray
	// KindStatus is a simple string: +OK.
	KindStatus
	// KindError is -CODE text; Text contains both.
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

// Reply is one reply, without its encoding. The zero value is null.
type Reply struct {
	Kind Kind
	// Undecided marks an error after which it is not known whether the command took
	// effect. It is not encoded.
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

// Bulk returns a bulk string reply; s may contain any bytes.
func Bulk(s string) Reply { return Reply{Kind: KindBulk, Text: s} }

// Array returns an array reply.
func Array(items ...Reply) Reply { return Reply{Kind: KindArray, Items: items} }

// Error returns an error reply; text begins with its code, as in "ERR syntax error", and
// must not contain line breaks.
func Error(text string) Reply { return Reply{Kind: KindError, Text: text} }

// Status returns a simple string reply.
func Status(s string) Reply { return Reply{Kind: KindStatus, Text: s} }

// Bulks returns the strings as bulk replies.
func Bulks(texts ...string) []Reply {
	items := make([]Reply, len(texts))
	for i, s := range texts {
		items[i] = Bulk(s)
	}
	return items
}

// Push returns a push of RESP3, an array in RESP2.
func Push(items ...Reply) Reply { return Reply{Kind: KindPush, Items: items} }

// Verbatim returns a text for people.
func Verbatim(text string) Reply { return Reply{Kind: KindVerbatim, Text: text} }

// Clean returns the first most bytes of b, made fit for an error line: control characters
// become spaces.
func Clean(b []byte, most int) string {
	if most < len(b) {
		b = b[:max(most, 0)]
	}
	out := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		out[i] = c
	}
	return string(out)
}

// Printable reports whether b has only characters that Redis allows in the names of
// clients: no spaces and no invisible characters.
func Printable(b []byte) bool {
	for _, c := range b {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}
