package resp

import (
	"bytes"
	"fmt"
	"io"
)

// Reader splits a client's input into complete commands. It parses RESP itself and
// remembers its position, so it looks at every byte once, however slowly they arrive. Its
// memory grows with what has arrived, never with announced lengths.
type Reader struct {
	r          io.Reader
	buf        []byte
	start, end int // the bytes read and not yet returned
	last       int // bytes of the last read
	given      int // commands returned so far
	read       uint64

	// The frame that begins at start: everything before start+scan has been parsed.
	// arguments is how many are still to come; if inBulk is set, the first of them has
	// size bytes.
	scan      int
	inFrame   bool
	arguments int
	inBulk    bool
	size      int
	// bulks are the parsed arguments' places, args is memory for what Next returns.
	bulks []bulk
	args  [][]byte
}

// bulk is the place of an argument, counted from the beginning of its frame.
type bulk struct{ from, to int }

// keptBulks bounds the arguments for which an idle session keeps memory.
const keptBulks = 16

// NewReader returns a reader of r. before is how many bytes were read earlier; Bytes
// includes them.
func NewReader(r io.Reader, before uint64) Reader { return Reader{r: r, read: before} }

// Commands returns how many commands were returned.
func (f *Reader) Commands() int { return f.given }

// Bytes returns how many bytes were read.
func (f *Reader) Bytes() uint64 { return f.read }

// Buffered returns how many bytes were read and not yet returned.
func (f *Reader) Buffered() int { return f.end - f.start }

// Memory returns the size of the buffer in bytes.
func (f *Reader) Memory() int { return len(f.buf) }

// Next returns the next complete command, or nil if Fill must read more first. The
// command is valid until the next call of Next or Fill.
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

// Partial reports whether a command has arrived in part.
func (f *Reader) Partial() bool { return f.start < f.end }

// parse returns the arguments of a complete frame. A blank line, *0 and *-1 contain no
// command; like Redis it skips them without a reply.
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

// follow returns the length of the frame at start, or 0 if it is not complete.
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

// followBulk parses one argument, and reports whether it is complete.
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

// number parses a line "*n" or "$n" at scan and moves scan past it.
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

// Shrink frees the memory that an idle session does not need. No command may have arrived
// in part.
func (f *Reader) Shrink() {
	f.buf, f.start, f.end, f.last = nil, 0, 0, 0
	f.bulks, f.args = nil, nil
}

// Fill reads once. Before that it makes room, or frees a big buffer that is empty.
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
