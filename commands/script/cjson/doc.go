// Package cjson is the JSON library of Redis scripts, cjson.encode and cjson.decode.
//
// What it reads, what it writes and the texts of its errors are those of lua-cjson 2.1.0
// with Redis's settings. encoding/json reads another language: lua-cjson accepts NaN,
// infinity and hexadecimal numbers, broken UTF-8, and what follows a zero byte.
//
// There is one difference. The keys of an encoded object are sorted, where lua-cjson
// writes them in the order of a hash table. So a script that stores an object does the same
// each time it is run, on every redlockd.
//
// A text or a value that nests more than 1000 deep is an error, as on Redis. All that is
// read and written is paid for from the script's lua.Budget.
//
//   - library.go: the library as a script sees it;
//   - encode.go: from a value to text;
//   - decode.go: from text to a value; tokens.go, text.go and numbers.go: its tokens.
package cjson
