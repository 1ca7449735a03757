package lua

import "github.com/yuin/gopher-lua/ast"

// list evaluates an expression list; only a call or ... at its end gives several values.
func (r *Run) list(exprs []ast.Expr, f *frame, e *env) []Value {
	if len(exprs) == 0 {
		return nil
	}
	values := make([]Value, 0, len(exprs))
	for _, x := range exprs[:len(exprs)-1] {
		values = append(values, r.eval(x, f, e))
	}
	return append(values, r.multi(exprs[len(exprs)-1], f, e)...)
}

// multi evaluates an expression to any number of values.
func (r *Run) multi(x ast.Expr, f *frame, e *env) []Value {
	switch x := x.(type) {
	case *ast.FuncCallExpr:
		results := r.apply(x, f, e)
		r.Grow(16 * len(results))
		if !x.AdjustRet {
			return results
		}
		return []Value{firstOf(results)}
	case *ast.Comma3Expr:
		if !f.variadic {
			Refuse("uses ... outside of a function that has it")
		}
		r.Grow(16 * len(f.varargs))
		if !x.AdjustRet {
			return f.varargs[:len(f.varargs):len(f.varargs)]
		}
		return []Value{firstOf(f.varargs)}
	}
	return []Value{r.eval(x, f, e)}
}

func (r *Run) apply(x *ast.FuncCallExpr, f *frame, e *env) []Value {
	var fn, self Value
	var what string
	if x.Receiver != nil {
		self = r.eval(x.Receiver, f, e)
		fn, what = r.index(self, x.Method, r.nameOf(x.Receiver, e)), "method '"+x.Method+"'"
	} else {
		fn = r.eval(x.Func, f, e)
		if _, ok := fn.(*builtin); !ok {
			what = r.nameOf(x.Func, e)
		}
	}
	args := r.list(x.Args, f, e)
	if x.Receiver != nil {
		args = append([]Value{self}, args...)
	}
	r.line = x.Line()
	return r.call(fn, args, what)
}

// eval evaluates an expression to one value.
func (r *Run) eval(x ast.Expr, f *frame, e *env) Value {
	r.Step(1)
	switch x := x.(type) {
	case *ast.TrueExpr:
		return true
	case *ast.FalseExpr:
		return false
	case *ast.NilExpr:
		return nil
	case *ast.NumberExpr:
		return r.literal(x)
	case *ast.StringExpr:
		return x.Value
	case *ast.IdentExpr:
		return r.variable(x, e)
	case *ast.AttrGetExpr:
		object, key := r.eval(x.Object, f, e), r.eval(x.Key, f, e)
		r.line = x.Line()
		return r.index(object, key, r.nameOf(x.Object, e))
	case *ast.FuncCallExpr, *ast.Comma3Expr:
		return firstOf(r.multi(x, f, e))
	case *ast.TableExpr:
		return r.construct(x, f, e)
	case *ast.FunctionExpr:
		r.Grow(64)
		return &closure{x, e}
	}
	return r.operation(x, f, e)
}

func (r *Run) operation(x ast.Expr, f *frame, e *env) Value {
	switch x := x.(type) {
	case *ast.LogicalOpExpr:
		left := r.eval(x.Lhs, f, e)
		if truth(left) == (x.Operator == "or") {
			return left
		}
		return r.eval(x.Rhs, f, e)
	case *ast.RelationalOpExpr:
		left, right := r.eval(x.Lhs, f, e), r.eval(x.Rhs, f, e)
		r.line = x.Line()
		return r.relate(x.Operator, left, right)
	case *ast.StringConcatOpExpr:
		left, right := r.eval(x.Lhs, f, e), r.eval(x.Rhs, f, e)
		r.line = x.Line()
		return r.concat(left, right, r.nameOf(x.Lhs, e), r.nameOf(x.Rhs, e))
	case *ast.ArithmeticOpExpr:
		left, right := r.eval(x.Lhs, f, e), r.eval(x.Rhs, f, e)
		r.line = x.Line()
		return r.arithmetic(x.Operator, left, right, r.nameOf(x.Lhs, e), r.nameOf(x.Rhs, e))
	case *ast.UnaryMinusOpExpr:
		return r.arithmetic("*", r.eval(x.Expr, f, e), -1.0, r.nameOf(x.Expr, e), "")
	case *ast.UnaryNotOpExpr:
		return !truth(r.eval(x.Expr, f, e))
	case *ast.UnaryLenOpExpr:
		v := r.eval(x.Expr, f, e)
		return r.length(v, r.nameOf(x.Expr, e))
	}
	Refuse("uses syntax that Lua 5.1 does not have")
	return nil
}

func (r *Run) literal(x *ast.NumberExpr) Value {
	f, ok := parseNumber(x.Value)
	if !ok {
		Refuse("uses the number %.40q", x.Value)
	}
	return f
}

func (r *Run) variable(x *ast.IdentExpr, e *env) Value {
	if at := r.find(e, x.Value); at != nil {
		return at.v
	}
	if v, ok := r.vars[x.Value]; ok {
		return v
	}
	if v, ok := r.globals.values[x.Value]; ok {
		return v
	}
	r.globals.refuseAbsent(x.Value)
	r.line = x.Line()
	r.Fail("Script attempted to access nonexistent global variable '%.100s'", x.Value)
	return nil
}

// construct builds a table. Lua stores the entries without a key last, so a numeric key
// beside them is refused: the script's author cannot have known which one wins.
func (r *Run) construct(x *ast.TableExpr, f *frame, e *env) Value {
	r.Grow(64)
	t, n, keyed := &Table{}, 0.0, false
	for i, item := range x.Fields {
		if item.Key != nil {
			key := r.eval(item.Key, f, e)
			keyed = keyed || TypeName(key) == "number"
			r.setIndex(t, key, r.eval(item.Value, f, e), "")
			continue
		}
		values := []Value{nil}
		if i == len(x.Fields)-1 {
			values = r.multi(item.Value, f, e)
		} else {
			values[0] = r.eval(item.Value, f, e)
		}
		for _, v := range values {
			n++
			t.Set(r.Budget, n, v)
		}
	}
	if keyed && n > 0 {
		Refuse("mixes numbered and listed entries in one table")
	}
	return t
}
