package fakeredis

import (
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// luaHost runs scripts for a server. It is used again for another one, and each script is
// compiled once, since both take long.
type luaHost struct {
	server *Server
	state  *lua.LState
	db     int
	times  int // how often the script under way has read the time
}

var compiled sync.Map // text -> *lua.FunctionProto

func compile(text string) *lua.FunctionProto {
	if p, ok := compiled.Load(text); ok {
		return p.(*lua.FunctionProto)
	}
	chunk, err := parse.Parse(strings.NewReader(text), "user_script")
	if err != nil {
		panic(err)
	}
	p, err := lua.Compile(chunk, "user_script")
	if err != nil {
		panic(err)
	}
	compiled.Store(text, p)
	return p
}

// idleLuaHosts are those whose server is not used any more.
var idleLuaHosts = sync.Pool{New: func() any { return newLuaHost() }}

func luaHostFor(s *Server) *luaHost {
	h := idleLuaHosts.Get().(*luaHost)
	h.server = s
	return h
}

func newLuaHost() *luaHost {
	h := &luaHost{state: lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 1024, CallStackSize: 32})}
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath} {
		h.state.Push(h.state.NewFunction(open))
		h.state.Push(lua.LString(name))
		h.state.Call(1, 0)
	}
	redis := h.state.NewTable()
	redis.RawSetString("call", h.state.NewFunction(func(l *lua.LState) int { return h.call(l, true) }))
	redis.RawSetString("pcall", h.state.NewFunction(func(l *lua.LState) int { return h.call(l, false) }))
	h.state.SetGlobal("redis", redis)
	return h
}

// call is redis.call, or pcall if raises is false: then an error does not end the
// script.
func (h *luaHost) call(l *lua.LState, raises bool) int {
	args := make([]string, l.GetTop())
	for i := range args {
		args[i] = lua.LVAsString(l.Get(i + 1))
	}
	r := h.data(args)
	if f, ok := r.(failure); ok && raises {
		l.Error(lua.LString(f), 0)
	}
	l.Push(h.value(r))
	return 1
}

func (h *luaHost) data(args []string) any {
	s := h.server
	if no := s.meet(0, args); no != nil {
		return no
	}
	if args[0] == "TIME" {
		if h.times++; h.times == s.HaltAt {
			return timeReply(s.clock() + s.Halt.Microseconds())
		}
	}
	return s.data(&h.db, args)
}

// value converts a reply to what scripts see.
func (h *luaHost) value(r any) lua.LValue {
	named := func(name, text string) lua.LValue {
		t := h.state.NewTable()
		t.RawSetString(name, lua.LString(text))
		return t
	}
	switch r := r.(type) {
	case int64:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case status:
		return named("ok", string(r))
	case failure:
		return named("err", string(r))
	case []any:
		t := h.state.CreateTable(len(r), 0)
		for _, item := range r {
			t.Append(h.value(item))
		}
		return t
	default:
		return lua.LFalse
	}
}

// run runs a script.
func (h *luaHost) run(text string, db int, keys, argv []string) any {
	h.db, h.times = db, 0
	l := h.state
	for name, words := range map[string][]string{"KEYS": keys, "ARGV": argv} {
		t := l.CreateTable(len(words), 0)
		for _, w := range words {
			t.Append(lua.LString(w))
		}
		l.SetGlobal(name, t)
	}
	l.Push(l.NewFunctionFromProto(compile(text)))
	if err := l.PCall(0, 1, nil); err != nil {
		text := err.Error()
		if e, ok := err.(*lua.ApiError); ok {
			text = lua.LVAsString(e.Object)
		}
		if !h.server.is7() {
			return failure("ERR Error running script (call to f_1a2b): @user_script:3: @user_script: 3: -" + text)
		}
		return failure(text + " script: 1a2b, on @user_script:3.")
	}
	out := reply(l.Get(-1))
	l.Pop(1)
	return out
}

// reply converts what a script returned to what a client sees.
func reply(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LNumber:
		return int64(v)
	case lua.LString:
		return string(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
	case *lua.LTable:
		if e := v.RawGetString("err"); e != lua.LNil {
			return failure(lua.LVAsString(e))
		}
		if ok := v.RawGetString("ok"); ok != lua.LNil {
			return status(lua.LVAsString(ok))
		}
		out := []any{}
		for i := 1; v.RawGetInt(i) != lua.LNil; i++ {
			out = append(out, reply(v.RawGetInt(i)))
		}
		return out
	}
	return nil
}
