package lua

import "github.com/yuin/gopher-lua/ast"

func (r *Run) while(s *ast.WhileStmt, f *frame, e *env) (outcome, []Value) {
	for truth(r.eval(s.Condition, f, e)) {
		r.Step(1)
		if out, results := r.block(s.Stmts, f, e); out == returned {
			return out, results
		} else if out == broke {
			break
		}
	}
	return fellThrough, nil
}

func (r *Run) repeat(s *ast.RepeatStmt, f *frame, e *env) (outcome, []Value) {
	for {
		r.Step(1)
		out, results, inner := r.blockWithScope(s.Stmts, f, e)
		if out == returned {
			return out, results
		}
		if out == broke || truth(r.eval(s.Condition, f, inner)) {
			return fellThrough, nil
		}
	}
}

// numericFor runs the numeric for.
func (r *Run) numericFor(s *ast.NumberForStmt, f *frame, e *env) (outcome, []Value) {
	from := r.loopNumber("initial", r.eval(s.Init, f, e))
	limit := r.loopNumber("limit", r.eval(s.Limit, f, e))
	step := 1.0
	if s.Step != nil {
		step = r.loopNumber("step", r.eval(s.Step, f, e))
	}
	for i := from; (step > 0 && i <= limit) || (step <= 0 && i >= limit); i += step {
		r.Step(1)
		if out, results := r.block(s.Stmts, f, r.bind(e, s.Name, i)); out == returned {
			return out, results
		} else if out == broke {
			break
		}
	}
	return fellThrough, nil
}

func (r *Run) loopNumber(which string, v Value) float64 {
	f, ok := r.number(r.Reveal(v))
	if !ok {
		if which == "initial" {
			r.Fail("'for' initial value must be a number")
		}
		r.Fail("'for' %s must be a number", which)
	}
	return f
}

// genericFor runs the generic for.
func (r *Run) genericFor(s *ast.GenericForStmt, f *frame, e *env) (outcome, []Value) {
	init := r.list(s.Exprs, f, e)
	for len(init) < 3 {
		init = append(init, nil)
	}
	control := init[2]
	for {
		r.Step(1)
		results := r.call(init[0], []Value{init[1], control}, "")
		if len(results) == 0 || results[0] == nil {
			return fellThrough, nil
		}
		control = results[0]
		inner := e
		for i, name := range s.Names {
			var v Value
			if i < len(results) {
				v = results[i]
			}
			inner = r.bind(inner, name, v)
		}
		if out, results := r.block(s.Stmts, f, inner); out == returned {
			return out, results
		} else if out == broke {
			return fellThrough, nil
		}
	}
}
