package script

import (
	"math"
	"strings"
)

// library is what a script finds as globals, the same for all runs: it is
// never written to.
var library map[string]value

// elsewhere names what Redis's Lua has and this interpreter has not: using it
// is refused by name, where anything unknown is nil as in Redis.
var elsewhere = map[string]bool{}

func init() {
	library = map[string]value{
		"string": libraryTable("string", stringLibrary),
		"table":  libraryTable("table", tableLibrary),
		"math":   libraryTable("math", mathLibrary),
		"redis":  redisTable(),
	}
	library["math"].(*table).rest["pi"] = math.Pi
	library["math"].(*table).rest["huge"] = math.Inf(1)
	for name, call := range baseLibrary {
		library[name] = &builtin{name, call}
	}
	for _, name := range strings.Fields(`
		_G _VERSION collectgarbage coroutine dofile getfenv getmetatable load loadstring loadfile module newproxy
		gcinfo rawget rawset require setfenv setmetatable xpcall print debug os io package
		bit cjson cmsgpack struct
		string.dump string.gfind
		table.sort table.foreach table.foreachi table.maxn table.setn
		math.random math.randomseed math.acos math.asin math.atan math.atan2 math.cos math.cosh math.deg math.exp
		math.fmod math.mod math.frexp math.ldexp math.log math.log10 math.modf math.rad math.sin math.sinh math.sqrt
		math.tan math.tanh
		redis.set_repl redis.REPL_ALL redis.REPL_AOF redis.REPL_SLAVE redis.REPL_REPLICA redis.REPL_NONE
		redis.breakpoint redis.debug redis.acl_check_cmd redis.register_function redis.REDIS_VERSION
		redis.REDIS_VERSION_NUM`) {
		elsewhere[name] = true
	}
}

type function = func(r *run, args []value) []value

func libraryTable(name string, functions map[string]function) *table {
	t := &table{rest: map[value]value{}, readonly: true, library: name}
	for field, call := range functions {
		t.rest[field] = &builtin{name + "." + field, call}
	}
	return t
}

func arg(args []value, i int) value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

func one(v value) []value { return []value{v} }

// need is Lua's check that argument i is there.
func (r *run) need(name string, args []value, i int) value {
	if i >= len(args) {
		r.fail("bad argument #%d to '%s' (value expected)", i+1, name)
	}
	return args[i]
}
