// Package lua runs Lua 5.1 scripts. It knows nothing of Redis or of locks.
//
// A host parses a script once and calls it as often as it likes:
//
//	chunk, err := lua.Parse("script", source)
//	results, raised := chunk.Call(lua.NewBudget(), globals, variables, host)
//
// gopher-lua's parser makes the syntax tree, and a Run walks over it. Two things
// set it apart from other interpreters:
//
//   - A script can do no harm: its steps, its memory and its depth are bounded by a
//     Budget, and it reaches nothing but what the host gives it.
//   - The host may put symbols into a script in the place of strings and numbers.
//     The interpreter asks it whenever it has to know more of one than its type.
//
// What Lua 5.1 has and this package has not, and what differs between its
// versions, ends a run with a *RefusedError that names it; it is never done in
// another way. Globals cannot be written to.
//
// The files, each group of which uses only those before it:
//
//   - budget.go: the bounds, and how a run is refused; value.go: values, symbols and
//     what the host knows of them; table.go and numbers.go: tables and numbers;
//   - parse.go: from text to a syntax tree;
//   - run.go: calls, variables and errors; globals.go: libraries as a script
//     finds them; statements.go, loops.go, expressions.go and operators.go: the
//     language. These six are one recursion, and so one type, Run;
//   - arguments.go: what a library function does with its arguments; base.go,
//     strings.go, pattern.go, patternlib.go, tables.go and math.go: the libraries;
//     standard.go: all of them together.
package lua
