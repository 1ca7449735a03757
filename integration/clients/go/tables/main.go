// Command tables takes the place of libraries whose packages cannot be had
// here: their scripts' behaviour (what is answered and done when the key is
// absent, holds the token, or another's), in scripts of our own words. The
// argument names the library.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"clients/steps"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// script is one of a library's.
type script struct {
	name string
	keys int
	text string
	args []string // $token, $ms (60000), $at (the time in 60 s), $key, or as they are
}

// values are what a key may hold.
type values struct{ mine, theirs string }

// sequence is commands without scripts.
type sequence struct {
	name     string
	commands []string
}

func main() {
	own, addr, prefix := steps.Args()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	all, known := scripts[own[0]]
	if !known && sequences[own[0]] == nil {
		fmt.Fprintln(os.Stderr, "no table of", own[0])
		os.Exit(2)
	}
	held, isObject := objects[own[0]]
	if !isObject {
		held = values{token, other}
	}
	for _, s := range all {
		states := []string{"absent", "equal", "other"}
		if s.keys > 1 {
			states = append(states, "absent and other", "equal and absent", "equal and other")
		}
		for _, state := range states {
			key := fmt.Sprintf("%s%s:%s", prefix, strings.ReplaceAll(s.name, " ", "-"), strings.ReplaceAll(state, " ", "-"))
			steps.Tell(s.name+", "+state, s.run(rdb, key, state, held))
		}
	}
	for _, s := range sequences[own[0]] {
		steps.Tell(s.name, s.run(rdb, prefix+strings.ReplaceAll(s.name, " ", "-")))
	}
}

const token, other = "token-0123456789012345", "token-of-somebody-else"

// run puts the keys into the state, runs the script twice (by text, then by
// hash) and tells both replies and what is left.
func (s script) run(rdb *redis.Client, key, state string, held values) any {
	var keys []string
	for i := range s.keys {
		keys = append(keys, key+":"+strconv.Itoa(i))
	}
	passed := keys
	if slices.Contains(s.args, "$key") {
		passed = nil // the script gets its key as an argument
	}
	first, second, _ := strings.Cut(state, " and ")
	if second == "" {
		second = first
	}
	for i, k := range keys {
		value := map[string]string{"equal": held.mine, "other": held.theirs}[[]string{first, second}[i]]
		if value == "" {
			continue
		}
		if err := rdb.Set(ctx, k, value, 30*time.Second).Err(); err != nil {
			return "FAILED " + err.Error()
		}
	}
	var args []any
	for _, a := range s.args {
		a = strings.ReplaceAll(a, "$token", token)
		a = strings.ReplaceAll(a, "$key", keys[0])
		a = strings.ReplaceAll(a, "$at", strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10))
		args = append(args, strings.ReplaceAll(a, "$ms", "60000"))
	}
	answer := reply(rdb.Eval(ctx, s.text, passed, args...).Result())
	told := []any{answer, left(rdb, keys)}
	time.Sleep(20 * time.Millisecond) // PEXPIRE GT within a millisecond is 0
	again := reply(redis.NewScript(s.text).EvalSha(ctx, rdb, passed, args...).Result())
	return append(told, "by hash", again, left(rdb, keys))
}

// left tells value and rounded TTL of every key.
func left(rdb *redis.Client, keys []string) any {
	var out []string
	for _, k := range keys {
		value, err := rdb.Get(ctx, k).Result()
		if errors.Is(err, redis.Nil) {
			out = append(out, "absent")
			continue
		}
		if err != nil {
			return "FAILED " + err.Error()
		}
		out = append(out, value+" "+rounded(rdb.PTTL(ctx, k).Val()))
	}
	return strings.Join(out, ", ")
}

func rounded(d time.Duration) string {
	if d < 0 {
		return "for ever"
	}
	return ((d + 5*time.Second) / (10 * time.Second) * 10 * time.Second).String()
}

// reply makes times in it comparable.
func reply(v any, err error) any {
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return "error " + err.Error()
	}
	switch v := v.(type) {
	case int64:
		if v > 1000 {
			return rounded(time.Duration(v) * time.Millisecond)
		}
	case []any:
		for i := range v {
			v[i] = reply(v[i], nil)
		}
	}
	return v
}

// run carries the commands out on one connection. A word $key is the key,
// $until the second a minute from now; $again in front of a command is another
// connection.
func (s sequence) run(rdb *redis.Client, key string) any {
	conn, second := rdb.Conn(), rdb.Conn()
	defer conn.Close()
	defer second.Close()
	var told []any
	for _, line := range s.commands {
		by := conn
		if rest, is := strings.CutPrefix(line, "$again "); is {
			by, line = second, rest
		}
		var args []any
		for _, word := range strings.Fields(line) {
			word = strings.ReplaceAll(strings.ReplaceAll(word, "$key", key), "$function", function)
			word = strings.ReplaceAll(word, "$until", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10))
			args = append(args, strings.ReplaceAll(word, "$empty", ""))
		}
		told = append(told, reply(by.Do(ctx, args...).Result()))
	}
	return told
}
