package cjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescaped are the characters that a short escape stands for.
var unescaped = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r',
}

// string reads a string, whose quotation mark is next.
func (r *reader) string() token {
	t := token{kind: text, at: r.at}
	var out strings.Builder
	for r.at++; ; {
		plain := strings.IndexAny(r.text[r.at:], `"\`)
		if plain < 0 {
			r.at = len(r.text)
			return r.wrong("unexpected end of string")
		}
		r.run.Grow(plain + utf8.UTFMax)
		out.WriteString(r.text[r.at : r.at+plain])
		r.at += plain
		if r.text[r.at] == '"' {
			r.at++
			t.value = out.String()
			return t
		}
		if why := r.escape(&out); why != "" {
			return r.wrong(why)
		}
	}
}

// escape reads one escape, whose backslash is next, and returns why it is wrong.
func (r *reader) escape(out *strings.Builder) string {
	c := r.byteAt(r.at + 1)
	if c == 'u' {
		point, size, ok := r.codePoint()
		if !ok {
			return "invalid unicode escape code"
		}
		out.WriteRune(point)
		r.at += size
		return ""
	}
	plain, ok := unescaped[c]
	if !ok {
		return "invalid escape code"
	}
	out.WriteByte(plain)
	r.at += 2
	return ""
}

// codePoint reads a unicode escape, or two that are a pair of surrogates, and returns how
// many bytes it takes.
func (r *reader) codePoint() (point rune, size int, ok bool) {
	high, ok := r.hex4(r.at + 2)
	if !ok || high&0xf800 != 0xd800 {
		return high, 6, ok
	}
	low, ok := r.hex4(r.at + 8)
	ok = ok && high < 0xdc00 && low&0xfc00 == 0xdc00 && r.byteAt(r.at+6) == '\\' && r.byteAt(r.at+7) == 'u'
	return (high&0x3ff)<<10 + low&0x3ff + 0x10000, 12, ok
}

// hex4 returns the number in four hexadecimal digits.
func (r *reader) hex4(at int) (rune, bool) {
	if at+4 > len(r.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[at:at+4], 16, 16)
	return rune(n), err == nil
}
