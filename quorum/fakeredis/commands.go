package fakeredis

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// command carries out a command that came over a connection.
func (s *Server) command(p *pipe, args []string) any {
	name := strings.ToUpper(args[0])
	if text := refusals[s.Fault]; text != "" && s.Fault == "BUSY" && name != "HELLO" {
		return failure(text)
	}
	if no := s.meet(p.id, args); no != nil {
		return no
	}
	switch {
	case name == "HELLO":
		return pairs{"server", "redis", "version", s.Version, "proto", int64(3), "id", int64(p.id),
			"mode", "standalone", "role", "master", "modules", []any{}}
	case name == "SELECT":
		p.db, _ = strconv.Atoi(args[1])
		return status("OK")
	case name == "CLIENT":
		return s.client(p, args)
	case name == "INFO":
		return s.info()
	case strings.HasSuffix(name, "SUBSCRIBE"):
		return s.subscribe(p, name, args)
	case name == "PUBLISH":
		return int64(s.Publish(args[1], args[2]))
	case name == "CONFIG":
		return pairs{"appendfsync", "always"}
	case name == "EVAL" || name == "EVALSHA":
		return s.eval(p.db, name, args)
	default:
		db := p.db
		return s.data(&db, args)
	}
}

func (s *Server) client(p *pipe, args []string) any {
	switch strings.ToUpper(args[1]) {
	case "ID":
		return int64(p.id)
	case "KILL":
		id, _ := strconv.Atoi(args[len(args)-1])
		s.Ended[id] = true
		at := slices.IndexFunc(s.pipes, func(p *pipe) bool { return p.id == id })
		if at < 0 {
			return int64(0)
		}
		s.hangUp(s.pipes[at])
		return int64(1)
	default:
		return status("OK")
	}
}

func (s *Server) eval(db int, name string, args []string) any {
	text := args[1]
	if name == "EVAL" {
		sum := sha1.Sum([]byte(text))
		s.scripts[hex.EncodeToString(sum[:])] = text
	} else if text = s.scripts[args[1]]; text == "" {
		return failure("NOSCRIPT No matching script. Please use EVAL.")
	}
	n, err := strconv.Atoi(args[2])
	if err != nil || n > len(args)-3 {
		return failure("ERR Number of keys can't be greater than number of args")
	}
	return s.lua.run(text, db, args[3:3+n], args[3+n:])
}

// data carries out a command on keys; db is the selected database.
func (s *Server) data(db *int, args []string) any {
	name := strings.ToUpper(args[0])
	switch name {
	case "SET", "DEL", "UNLINK", "PEXPIREAT":
		if no := s.refusal(name); no != nil {
			return no
		}
	}
	switch name {
	case "SELECT":
		*db, _ = strconv.Atoi(args[1])
		return status("OK")
	case "GET":
		switch e, ok := s.Get(*db, args[1]); {
		case !ok:
			return nil
		case e.Foreign:
			return wrongType
		default:
			return e.Value
		}
	case "MGET":
		out := []any{}
		for _, key := range args[1:] {
			if e, ok := s.Get(*db, key); ok && !e.Foreign {
				out = append(out, e.Value)
			} else {
				out = append(out, nil)
			}
		}
		return out
	case "SET":
		return s.cmdSet(*db, args)
	case "DEL", "UNLINK", "EXISTS":
		n := int64(0)
		for _, key := range args[1:] {
			if _, ok := s.Get(*db, key); ok {
				if n++; name != "EXISTS" {
					s.Del(*db, key)
				}
			}
		}
		return n
	case "PTTL", "PEXPIRETIME":
		return s.expiry(*db, name, args[1])
	case "PEXPIREAT":
		return s.cmdPexpireat(*db, args)
	case "TIME":
		return timeReply(s.clock())
	case "DBSIZE":
		return int64(len(s.dbs[*db]))
	case "SCAN":
		return s.scan(*db, args)
	default:
		return failure("ERR unknown command '" + args[0] + "'")
	}
}

// scan answers SCAN cursor COUNT n; the cursor is the number of a key.
func (s *Server) scan(db int, args []string) any {
	keys := s.Keys(db)
	from, _ := strconv.Atoi(args[1])
	to, next := len(keys), 0
	if count, _ := strconv.Atoi(args[3]); s.Paged && from+count < to {
		to, next = from+count, from+count
	}
	page := []any{}
	for _, key := range keys[min(from, to):to] {
		page = append(page, key)
	}
	return []any{strconv.Itoa(next), page}
}

func (s *Server) expiry(db int, name, key string) any {
	e, ok := s.Get(db, key)
	switch {
	case name == "PEXPIRETIME" && !s.is7():
		return failure("ERR unknown command 'PEXPIRETIME'")
	case !ok:
		return int64(-2)
	case e.Expiry == 0:
		return int64(-1)
	case name == "PTTL":
		return e.Expiry - s.Millis()
	default:
		return e.Expiry
	}
}

// cmdSet is SET key value with NX, XX, GET, KEEPTTL, PX and PXAT.
func (s *Server) cmdSet(db int, args []string) any {
	var nx, xx, get, keep bool
	e := Entry{Value: args[2]}
	for i := 3; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "NX":
			nx = true
		case "XX":
			xx = true
		case "GET":
			get = true
		case "KEEPTTL":
			keep = true
		case "PX", "PXAT":
			n, err := strconv.ParseInt(args[i+1], 10, 64)
			if err != nil || n <= 0 {
				return failure("ERR invalid expire time in 'set' command")
			}
			if e.Expiry = n; strings.EqualFold(args[i], "PX") {
				e.Expiry += s.Millis()
			}
			i++
		default:
			return failure("ERR syntax error")
		}
	}
	if nx && xx || nx && get && !s.is7() {
		return failure("ERR syntax error")
	}
	before, was := s.Get(db, args[1])
	if get && before.Foreign {
		return wrongType
	}
	if keep {
		e.Expiry = before.Expiry
	}
	if !(nx && was) && !(xx && !was) {
		s.Put(db, args[1], e)
	} else if !get {
		return nil
	}
	switch {
	case get && was:
		return before.Value
	case get:
		return nil
	default:
		return status("OK")
	}
}

// cmdPexpireat is PEXPIREAT key time with GT, LT, NX and XX.
func (s *Server) cmdPexpireat(db int, args []string) any {
	at, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil || len(args) > 3 && !s.is7() {
		return failure("ERR value is not an integer or out of range")
	}
	e, ok := s.Get(db, args[1])
	if !ok {
		return int64(0)
	}
	if len(args) > 3 {
		has := e.Expiry != 0
		fits := map[string]bool{"GT": has && at > e.Expiry, "LT": !has || at < e.Expiry, "NX": !has, "XX": has}
		if !fits[strings.ToUpper(args[3])] {
			return int64(0)
		}
	}
	if e.Expiry = at; at <= s.Millis() {
		s.Del(db, args[1])
	} else {
		s.Put(db, args[1], e)
	}
	return int64(1)
}
