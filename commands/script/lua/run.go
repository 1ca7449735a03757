package lua

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// Run is one run of one chunk: its variables, calls and errors, and the walk over the
// syntax tree. It is one type because a tree walker is one recursion: a statement
// evaluates expressions, an expression calls a function, and the function runs
// statements. Values, numbers, tables and the libraries are not a part of that recursion,
// and are functions of their own.
//
// A run leaves its normal course only by panics. A *Raised, which is a Lua error, ends in
// Chunk.Call or in pcall; a *RefusedError and the host's own panics
// end at the caller of Chunk.Call.
type Run struct {
	*Budget
	chunk   *Chunk
	globals *Globals
	vars    map[string]Value
	host    Host
	depth   int
	direct  int // the depth of the library function that pcall itself called last, or 0
	line    int // of the current node, for error texts
}

// Raised is an error that a script raised. Value may be nil.
type Raised struct {
	Value Value
	Line  int
}

// Function is a function of a library or of the host.
type Function = func(r *Run, args []Value) []Value

// builtin is a Function as a value. It compares by address.
type builtin struct {
	name string
	call Function
}

// closure is a Lua function.
type closure struct {
	fn  *ast.FunctionExpr
	env *env
}

// env is one local variable and those declared before it. A closure keeps the env in
// which it was made, so it does not see later variables.
type env struct {
	up    *env
	name  string
	v     Value
	depth int
}

// frame is one call of a Lua function.
type frame struct {
	variadic bool
	varargs  []Value
}

// Call runs the chunk. Its globals are vars and then g. raised is an error that the
// script did not catch. Panics with a *RefusedError, and those of h, are not recovered.
func (c *Chunk) Call(b *Budget, g *Globals, vars map[string]Value, h Host) (results []Value, raised *Raised) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Raised:
			results, raised = nil, p
		default:
			panic(p)
		}
	}()
	r := &Run{Budget: b, chunk: c, globals: g, vars: vars, host: h}
	_, results = r.block(c.stmts, &frame{variadic: true}, nil)
	return results, nil
}

// Host returns the host with which the chunk was called.
func (r *Run) Host() Host { return r.host }

// Raise raises v as an error, at the current line.
func (r *Run) Raise(v Value) { panic(&Raised{v, r.line}) }

// Fail raises a Lua error at the current line. As in Lua, its text begins with the line
// unless pcall itself has called the function that fails.
func (r *Run) Fail(format string, args ...any) {
	r.Grow(128)
	text := fmt.Sprintf(format, args...)
	if !r.byPcall() {
		text = fmt.Sprintf("%s:%d: %s", r.chunk.name, r.line, text)
	}
	r.Raise(text)
}

// byPcall reports whether pcall itself has called what runs, which is not a Lua function.
func (r *Run) byPcall() bool { return r.direct == r.depth && r.direct > 0 }

func (r *Run) bind(e *env, name string, v Value) *env {
	r.Grow(64)
	n := &env{up: e, name: name, v: v}
	if e != nil {
		n.depth = e.depth + 1
	}
	if n.depth > maxLocals*2 {
		Refuse("has more than %d local variables in scope", maxLocals*2)
	}
	return n
}

func (r *Run) find(e *env, name string) *env {
	from := e
	for ; e != nil && e.name != name; e = e.up {
	}
	if e == nil && from != nil {
		r.Step(from.depth / 8)
	} else if e != nil {
		r.Step((from.depth - e.depth) / 8)
	}
	return e
}

// call calls f; what is its name in an error text.
func (r *Run) call(f Value, args []Value, what string) []Value {
	if r.depth++; r.depth > maxCallDepth {
		Refuse("nests more than %d calls", maxCallDepth)
	}
	defer func() { r.depth-- }()
	r.Step(1 + len(args))
	switch f := f.(type) {
	case *builtin:
		return f.call(r, args)
	case *closure:
		return r.enter(f, args)
	}
	r.Fail("attempt to call %s", describe(what, f))
	return nil
}

func (r *Run) enter(c *closure, args []Value) []Value {
	e := c.env
	for i, name := range c.fn.ParList.Names {
		var v Value
		if i < len(args) {
			v = args[i]
		}
		e = r.bind(e, name, v)
	}
	f := &frame{variadic: c.fn.ParList.HasVargs}
	if n := len(c.fn.ParList.Names); f.variadic && len(args) > n {
		f.varargs = args[n:]
	}
	_, results := r.block(c.fn.Stmts, f, e)
	return results
}

// describe returns a value as in Lua's error texts: "local 'x' (a nil value)".
func describe(what string, v Value) string {
	if what == "" {
		return "a " + TypeName(v) + " value"
	}
	return what + " (a " + TypeName(v) + " value)"
}

// nameOf returns the name that Lua gives an expression in an error text, or "".
func (r *Run) nameOf(e ast.Expr, at *env) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		if r.find(at, e.Value) != nil {
			return "local '" + e.Value + "'"
		}
		return "global '" + e.Value + "'"
	case *ast.AttrGetExpr:
		if key, ok := e.Key.(*ast.StringExpr); ok {
			return "field '" + key.Value + "'"
		}
		return "field '?'"
	}
	return ""
}
