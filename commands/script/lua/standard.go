package lua

import (
	"math"
	"strings"
)

// NewGlobals returns Lua's standard libraries, without some names of Lua 5.1. Using one
// of these, or of those in absent, a list with spaces, ends the run with a refusal that
// gives reason. Any other unknown name is an error or nil as in Lua.
func NewGlobals(absent, reason string) *Globals {
	g := &Globals{values: map[string]Value{}, absent: map[string]bool{}, reason: reason}
	for name, call := range baseLibrary {
		g.values[name] = &builtin{name, call}
	}
	g.strings = g.Add("string", stringLibrary, nil)
	g.Add("table", tableLibrary, nil)
	g.Add("math", mathLibrary, map[string]Value{"pi": math.Pi, "huge": math.Inf(1)})
	for _, name := range strings.Fields(absent + `
		_G _VERSION collectgarbage coroutine dofile getfenv getmetatable load loadstring loadfile module newproxy
		gcinfo rawget rawset require setfenv setmetatable xpcall print debug os io package
		string.dump string.gfind
		table.sort table.foreach table.foreachi table.maxn table.setn
		math.random math.randomseed math.acos math.asin math.atan math.atan2 math.cos math.cosh math.deg math.exp
		math.fmod math.mod math.frexp math.ldexp math.log math.log10 math.modf math.rad math.sin math.sinh math.sqrt
		math.tan math.tanh`) {
		g.absent[name] = true
	}
	return g
}
