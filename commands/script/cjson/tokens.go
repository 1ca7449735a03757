package cjson

import (
	"strings"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// kind is a kind of token.
type kind int

const (
	objectBegin kind = iota
	objectEnd
	arrayBegin
	arrayEnd
	text
	number
	boolean
	nothing
	colon
	comma
	end
	wrong
)

// String returns the kind as lua-cjson's errors name it.
func (k kind) String() string {
	return []string{"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
		"T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA", "T_END", "T_ERROR"}[k]
}

// token is one token. at is where it begins, or where it is wrong, counted from 0.
type token struct {
	kind  kind
	at    int
	value lua.Value
	wrong string
}

// reader splits a text into tokens. at is where the next one begins.
type reader struct {
	run  *lua.Run
	text string
	at   int
}

// byteAt returns the byte at i, and 0 behind the end.
func (r *reader) byteAt(i int) byte {
	if i < len(r.text) {
		return r.text[i]
	}
	return 0
}

// signs are the tokens of one character.
var signs = map[byte]kind{
	'{': objectBegin, '}': objectEnd, '[': arrayBegin, ']': arrayEnd, ':': colon, ',': comma, 0: end,
}

// words are the tokens of one word. What follows a word is another token.
var words = []struct {
	word  string
	kind  kind
	value lua.Value
}{{"true", boolean, true}, {"false", boolean, false}, {"null", nothing, null}}

// next returns the next token. Behind the end it is always the end.
func (r *reader) next() token {
	r.run.Step(1)
	for c := r.byteAt(r.at); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = r.byteAt(r.at) {
		r.at++
	}
	c := r.byteAt(r.at)
	if k, ok := signs[c]; ok {
		t := token{kind: k, at: r.at}
		r.at = min(r.at+1, len(r.text))
		return t
	}
	if c == '"' {
		return r.string()
	}
	for _, w := range words {
		if strings.HasPrefix(r.text[r.at:], w.word) {
			t := token{kind: w.kind, at: r.at, value: w.value}
			r.at += len(w.word)
			return t
		}
	}
	if strings.IndexByte("+-0123456789iInN", c) >= 0 {
		return r.number(c)
	}
	return r.wrong("invalid token")
}

// wrong returns the token that is wrong where the reader stands.
func (r *reader) wrong(why string) token { return token{kind: wrong, at: r.at, wrong: why} }
