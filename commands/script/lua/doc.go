// Package lua runs Lua 5.1 scripts. It knows nothing of Redis or of locks.
//
// A host parses a script once and may call it any number of times:
//
//	chunk, err := lua.Parse("script", source)
//	results, raised := chunk.Call(lua.NewBudget(), globals, variables, host)
//
// gopher-lua's parser makes the syntax tree, and a Run walks over it. It differs from
// other interpreters in two ways:
//
//   - A script can do no harm: its steps, its memory and its depth are bounded by a
//     Budget, and it reaches nothing but what the host gives it.
//   - The host may give a script symbols in place of strings and numbers. The
//     interpreter asks the host whenever it needs to know more of a symbol than its type.
//
// A use of a feature of Lua 5.1 that this package lacks, or that differs between
// versions, ends a run with a *RefusedError that names it; it is never executed
// differently. Globals cannot be written to.
//
// The files, each group of which uses only those before it:
//
//   - budget.go: the bounds, and how a run is refused; value.go: values, symbols and
//     the Host; table.go and numbers.go: tables and numbers;
//   - parse.go: from text to a syntax tree;
//   - run.go: calls, variables and errors; globals.go: the libraries as a script
//     sees them; statements.go, loops.go, expressions.go and operators.go: the
//     language. These six are one recursion, and so one type, Run;
//   - arguments.go: how library functions read their arguments; base.go,
//     strings.go, pattern.go, patternlib.go, tables.go and math.go: the libraries;
//     standard.go: all of them together.
package lua
