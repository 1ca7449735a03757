package resp

import (
	"bytes"
	"fmt"
	"io"
)

// Reader cuts what a client sends into complete commands. It follows RESP
// itself and remembers how far it got, so every byte is looked at once however
// slowly it comes, and memory grows with what has arrived, never with what was
// announced.
type Reader struct {
	r          io.Reader
	buf        []byte
	start, end int // what has been read and not yet been given out
	last       int // bytes of the last read
	given      int // commands given out so far
	read       uint64

	// The frame that begins at start: everything before start+scan has been
	// followed. arguments are still to come, of which the first has size
	// bytes when inBulk is set.
	scan      int
	inFrame   bool
	arguments int
	inBulk    bool
	size      int
	// bulks are the arguments that have been followed, args is memory for
	// what next returns.
	bulks []bulk
	args  [][]byte
}

// bulk is where an argument lies, counted from the beginning of its frame.
type bulk struct{ from, to int }

// keptBulks bounds how many arguments an idle session keeps memory for.
const keptBulks = 16

// NewReader reads from r, and goes on counting at the bytes that were read before.
func NewReader(r io.Reader, before uint64) Reader { return Reader{r: r, read: before} }

// Commands is how many commands were given out.
func (f *Reader) Commands() int { return f.given }

// Bytes is how many bytes were read.
func (f *Reader) Bytes() uint64 { return f.read }

// Buffered is how many bytes were read and not given out yet.
func (f *Reader) Buffered() int { return f.end - f.start }

// Memory is the bytes that the buffer takes.
func (f *Reader) Memory() int { return len(f.buf) }

// Next returns the next complete command, or nil when more must be read
// first. What it returns is valid until the next call or fill.
func (f *Reader) Next(lim Limits) ([][]byte, error) {
	for {
		n, err := f.follow(lim)
		if n == 0 || err != nil {
			return nil, err
		}
		raw := f.buf[f.start : f.start+n]
		args, err := f.parse(raw)
		f.start += n
		f.scan, f.inFrame, f.arguments = 0, false, 0
		switch {
		case err != nil:
			return nil, err
		case len(args) > lim.Arguments:
			return nil, errInline
		case len(args) > 0:
			f.given++
			return args, nil
		}
	}
}

// Partial reports whether a command has begun to arrive and has not ended.
func (f *Reader) Partial() bool { return f.start < f.end }

// parse takes a complete frame apart. A blank line, *0 and *-1 hold no
// command; Redis passes over them without a reply.
func (f *Reader) parse(raw []byte) ([][]byte, error) {
	if !f.inFrame {
		args, ok := splitInline(bytes.TrimRight(raw, "\r\n"))
		if !ok {
			return nil, errQuotes
		}
		return args, nil
	}
	if cap(f.args) > keptBulks {
		f.args = nil
	}
	f.args = f.args[:0]
	for _, b := range f.bulks {
		f.args = append(f.args, raw[b.from:b.to:b.to])
	}
	f.bulks = f.bulks[:0]
	if cap(f.bulks) > keptBulks {
		f.bulks = nil
	}
	return f.args, nil
}

// follow returns the length of the frame at start, or 0 when it has not ended.
func (f *Reader) follow(lim Limits) (int, error) {
	b := f.buf[f.start:f.end]
	if len(b) == 0 {
		return 0, nil
	}
	if b[0] != '*' {
		return f.followInline(b, lim)
	}
	if !f.inFrame {
		count, done, err := f.number(b, errMultibulk, errMultibulkLine)
		if !done || err != nil {
			return 0, err
		}
		if count > int64(lim.Arguments) {
			if lim.BeforeLogin {
				return 0, errLoginMultibulk
			}
			return 0, errMultibulk
		}
		f.inFrame, f.arguments = true, int(max(count, 0))
	}
	for f.arguments > 0 {
		done, err := f.followBulk(b, lim)
		if !done || err != nil {
			return 0, err
		}
		f.arguments--
	}
	return f.scan, nil
}

func (f *Reader) followInline(b []byte, lim Limits) (int, error) {
	most := min(maxInline, lim.Bytes)
	if lim.BeforeLogin {
		most = min(most, loginBytes)
	}
	i := bytes.IndexByte(b[f.scan:], '\n')
	if i < 0 {
		f.scan = len(b)
	} else {
		f.scan += i + 1
	}
	if f.scan > most {
		return 0, errInline
	}
	if i < 0 {
		return 0, nil
	}
	return f.scan, nil
}

// followBulk follows one argument, and reports whether it has arrived.
func (f *Reader) followBulk(b []byte, lim Limits) (bool, error) {
	if !f.inBulk {
		if f.scan == len(b) {
			return false, nil
		}
		if c := b[f.scan]; c != '$' {
			return false, ProtocolError(fmt.Sprintf("expected '$', got '%s'", Clean([]byte{c}, 1)))
		}
		size, done, err := f.number(b, errBulk, errBulkLine)
		if !done || err != nil {
			return false, err
		}
		if lim.BeforeLogin && size > loginBytes {
			return false, errLoginBulk
		}
		if size < 0 || size > int64(lim.Bytes-f.scan-2) {
			return false, errBulk
		}
		f.inBulk, f.size = true, int(size)
	}
	end := f.scan + f.size
	if end+2 > len(b) {
		return false, nil
	}
	if b[end] != '\r' || b[end+1] != '\n' {
		return false, errBulk
	}
	f.bulks = append(f.bulks, bulk{f.scan, end})
	f.scan, f.inBulk = end+2, false
	return true, nil
}

// number reads a line "*n" or "$n" at scan and passes over it.
func (f *Reader) number(b []byte, bad, long ProtocolError) (n int64, done bool, err error) {
	line := b[f.scan:]
	i := bytes.IndexByte(line[:min(len(line), maxHeader)], '\n')
	switch {
	case i < 0 && len(line) >= maxHeader:
		return 0, false, long
	case i < 0:
		return 0, false, nil
	case i < 2 || line[i-1] != '\r':
		return 0, false, bad
	}
	n, ok := ParseInt(line[1 : i-1])
	if !ok {
		return 0, false, bad
	}
	f.scan += i + 1
	return n, true, nil
}

// Shrink gives back what an idle session can do without. Nothing may have begun
// to arrive.
func (f *Reader) Shrink() {
	f.buf, f.start, f.end, f.last = nil, 0, 0, 0
	f.bulks, f.args = nil, nil
}

// Fill reads once. Before that it makes room, and gives a big buffer back when
// nothing is left in it.
func (f *Reader) Fill() error {
	switch {
	case f.start == f.end:
		f.start, f.end = 0, 0
		switch {
		case f.last == len(f.buf) && len(f.buf) < bigReads:
			f.buf = make([]byte, max(smallBuffer, 2*len(f.buf)))
		case f.last < smallBuffer && len(f.buf) > smallBuffer:
			f.buf = make([]byte, smallBuffer)
		}
	case f.end == len(f.buf) && f.start > 0:
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	case f.end == len(f.buf):
		f.buf = append(f.buf, make([]byte, len(f.buf))...)
	}
	n, err := f.r.Read(f.buf[f.end:])
	f.end += n
	f.last = n
	f.read += uint64(n)
	if n > 0 {
		return nil
	}
	return err
}
