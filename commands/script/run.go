package script

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// run is one run of one script on one state of the key.
//
// Inside a run everything but the normal course is a panic. What ends the run
// (*RefusedError, *NeedsKeysError, leak, wanted, unproved, signalling) is
// recovered by execute; a *luaError, an error as Lua knows it, by script (and by
// pcall, which refuses it).
type run struct {
	*budget
	chunk *chunk
	form  *form
	space *space
	// proving is false for runs on real values; token is the class that was
	// found to be the token, or -1.
	proving bool
	token   int
	globals map[string]value
	depth   int
	line    int // of the node at work, for error texts
	time    int64
}

// luaError is a raised Lua error; a value of nil cannot be raised.
type luaError struct {
	value value
	line  int
}

// env is one local variable and what it hides. Closures keep the env they
// were made in, so later variables do not show in them.
type env struct {
	up    *env
	name  string
	v     value
	depth int
}

// closure is a Lua function.
type closure struct {
	fn  *ast.FunctionExpr
	env *env
}

// builtin is a function of ours. It compares by address.
type builtin struct {
	name string
	call func(r *run, args []value) []value
}

// frame is one call of a Lua function.
type frame struct {
	variadic bool
	varargs  []value
}

func (r *run) bind(e *env, name string, v value) *env {
	r.grow(64)
	n := &env{up: e, name: name, v: v}
	if e != nil {
		n.depth = e.depth + 1
	}
	if n.depth > maxLocals*2 {
		refuse("has more than %d local variables in scope", maxLocals*2)
	}
	return n
}

func (r *run) find(e *env, name string) *env {
	from := e
	for ; e != nil && e.name != name; e = e.up {
	}
	if e == nil && from != nil {
		r.step(from.depth / 8)
	} else if e != nil {
		r.step((from.depth - e.depth) / 8)
	}
	return e
}

// fail raises a Lua error at the line at work.
func (r *run) fail(format string, args ...any) {
	r.grow(128)
	text := fmt.Sprintf("user_script:%d: %s", r.line, fmt.Sprintf(format, args...))
	panic(&luaError{value: text, line: r.line})
}

// failAs raises the error reply of a Redis command.
func (r *run) failAs(text string) {
	panic(&luaError{value: oneField(r.budget, "err", text), line: r.line})
}

// call calls f; what names it in an error text.
func (r *run) call(f value, args []value, what string) []value {
	if r.depth++; r.depth > maxCallDepth {
		refuse("nests more than %d calls", maxCallDepth)
	}
	defer func() { r.depth-- }()
	r.step(1 + len(args))
	switch f := f.(type) {
	case *builtin:
		return f.call(r, args)
	case *closure:
		return r.enter(f, args)
	}
	r.fail("attempt to call %s", describe(what, f))
	return nil
}

func (r *run) enter(c *closure, args []value) []value {
	e := c.env
	for i, name := range c.fn.ParList.Names {
		var v value
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

// describe is how Lua's error texts name a value: "local 'x' (a nil value)".
func describe(what string, v value) string {
	if what == "" {
		return "a " + typeName(v) + " value"
	}
	return what + " (a " + typeName(v) + " value)"
}

// nameOf is the name Lua gives an expression in an error text, or nothing.
func (r *run) nameOf(e ast.Expr, at *env) string {
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

func typeName(v value) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case float64, linear, remaining, subscriberCount, unseen:
		return "number"
	case string, sealed, stored:
		return "string"
	case *table:
		return "table"
	}
	return "function"
}

func truth(v value) bool { return v != nil && v != false }
