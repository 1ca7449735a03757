package resp

// ProtocolError is the error for an invalid frame, after which the connection ends. Its
// text is Redis's.
type ProtocolError string

func (e ProtocolError) Error() string { return "ERR Protocol error: " + string(e) }

const (
	errMultibulk      = ProtocolError("invalid multibulk length")
	errBulk           = ProtocolError("invalid bulk length")
	errInline         = ProtocolError("too big inline request")
	errMultibulkLine  = ProtocolError("too big mbulk count string")
	errBulkLine       = ProtocolError("too big bulk count string")
	errQuotes         = ProtocolError("unbalanced quotes in request")
	errLoginMultibulk = ProtocolError("unauthenticated multibulk length")
	errLoginBulk      = ProtocolError("unauthenticated bulk length")
)

// Limits that need no setting.
const (
	// maxInline bounds an inline command, as in Redis.
	maxInline = 64 << 10
	// maxHeader bounds the line that holds a count or a length.
	maxHeader = 32
	// loginBytes bounds an argument, or an inline command, before login, as in Redis.
	loginBytes = 16384
	// smallBuffer is the buffer that an idle Reader keeps; bigReads is the size up to
	// which a busy Reader's buffer grows for speed alone.
	smallBuffer = 1 << 10
	bigReads    = 16 << 10
)

// Limits bound one command.
type Limits struct {
	Arguments int
	Bytes     int
	// BeforeLogin reports whether the client has not logged in yet: then Redis accepts
	// less.
	BeforeLogin bool
}
