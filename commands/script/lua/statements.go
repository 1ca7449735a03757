package lua

import "github.com/yuin/gopher-lua/ast"

// outcome is how a block ended.
type outcome uint8

const (
	fellThrough outcome = iota
	broke
	returned
)

// block runs statements; variables that they declare end with the block.
func (r *Run) block(stmts []ast.Stmt, f *frame, e *env) (outcome, []Value) {
	out, results, _ := r.blockWithScope(stmts, f, e)
	return out, results
}

// blockWithScope is block, and also returns the variables, which the condition of repeat
// ... until can use.
func (r *Run) blockWithScope(stmts []ast.Stmt, f *frame, e *env) (outcome, []Value, *env) {
	for _, s := range stmts {
		r.Step(1)
		r.line = s.Line()
		var out outcome
		var results []Value
		if l, ok := s.(*ast.LocalAssignStmt); ok {
			e = r.local(l, f, e)
		} else if out, results = r.statement(s, f, e); out != fellThrough {
			return out, results, e
		}
	}
	return fellThrough, nil, e
}

func (r *Run) statement(s ast.Stmt, f *frame, e *env) (outcome, []Value) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		r.assign(s, f, e)
	case *ast.FuncCallStmt:
		r.multi(s.Expr, f, e)
	case *ast.DoBlockStmt:
		return r.block(s.Stmts, f, e)
	case *ast.IfStmt:
		if truth(r.eval(s.Condition, f, e)) {
			return r.block(s.Then, f, e)
		}
		return r.block(s.Else, f, e)
	case *ast.WhileStmt:
		return r.while(s, f, e)
	case *ast.RepeatStmt:
		return r.repeat(s, f, e)
	case *ast.NumberForStmt:
		return r.numericFor(s, f, e)
	case *ast.GenericForStmt:
		return r.genericFor(s, f, e)
	case *ast.FuncDefStmt:
		r.define(s, f, e)
	case *ast.ReturnStmt:
		return returned, r.list(s.Exprs, f, e)
	case *ast.BreakStmt:
		return broke, nil
	default:
		Refuse("uses syntax that Lua 5.1 does not have")
	}
	return fellThrough, nil
}

// local declares variables. The function of `local function f` can refer to itself, that
// of `local f = function` cannot; the parser sets a last line only for the first.
func (r *Run) local(s *ast.LocalAssignStmt, f *frame, e *env) *env {
	if len(s.Exprs) == 1 && len(s.Names) == 1 && s.LastLine() > 0 {
		if fn, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			e = r.bind(e, s.Names[0], nil)
			e.v = &closure{fn, e}
			return e
		}
	}
	values := r.list(s.Exprs, f, e)
	for i, name := range s.Names {
		var v Value
		if i < len(values) {
			v = values[i]
		}
		e = r.bind(e, name, v)
	}
	return e
}

// assign evaluates everything before it assigns, from right to left, as Lua's
// compiler does.
func (r *Run) assign(s *ast.AssignStmt, f *frame, e *env) {
	type place struct{ object, key Value }
	places := make([]place, len(s.Lhs))
	for i, l := range s.Lhs {
		if at, ok := l.(*ast.AttrGetExpr); ok {
			places[i] = place{r.eval(at.Object, f, e), r.eval(at.Key, f, e)}
		}
	}
	values := r.list(s.Rhs, f, e)
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		var v Value
		if i < len(values) {
			v = values[i]
		}
		if at, ok := s.Lhs[i].(*ast.AttrGetExpr); ok {
			r.setIndex(places[i].object, places[i].key, v, r.nameOf(at.Object, e))
			continue
		}
		r.setName(s.Lhs[i].(*ast.IdentExpr).Value, v, e)
	}
}

// setName writes a variable; the table of globals is read-only.
func (r *Run) setName(name string, v Value, e *env) {
	if at := r.find(e, name); at != nil {
		at.v = v
		return
	}
	r.Fail("Attempt to modify a readonly table")
}

func (r *Run) define(s *ast.FuncDefStmt, f *frame, e *env) {
	if s.Name.Func == nil {
		Refuse("defines a method")
	}
	fn := &closure{s.Func, e}
	switch target := s.Name.Func.(type) {
	case *ast.IdentExpr:
		r.setName(target.Value, fn, e)
	case *ast.AttrGetExpr:
		object := r.eval(target.Object, f, e)
		r.setIndex(object, r.eval(target.Key, f, e), fn, r.nameOf(target.Object, e))
	}
}
