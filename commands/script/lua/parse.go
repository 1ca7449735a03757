package lua

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Chunk is a parsed script. It is never written to after Parse, so it may be
// called from several goroutines at once.
type Chunk struct {
	name  string
	stmts []ast.Stmt
}

// Parse turns source into a syntax tree of bounded depth, so that the interpreter cannot
// overflow the stack. Error texts begin with the name of the chunk.
func Parse(name, source string) (c *Chunk, err error) {
	k := &checker{name: name}
	if len(source) > maxSource {
		return nil, k.fail(fmt.Sprintf("1: script is longer than %d bytes", maxSource))
	}
	defer func() {
		if p := recover(); p != nil {
			c, err = nil, k.fail("1: malformed script")
		}
	}()
	stmts, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, k.fail(parseErrorText(err))
	}
	if err := k.block(stmts, false); err != nil {
		return nil, err
	}
	return &Chunk{name: name, stmts: stmts}, nil
}

func parseErrorText(err error) string {
	var at *parse.Error
	if !errors.As(err, &at) {
		return "1: " + err.Error()
	}
	if at.Pos.Line <= 0 || at.Token == "" {
		return "1: syntax error near '<eof>'"
	}
	return fmt.Sprintf("%d: %s near '%s'", at.Pos.Line, at.Message, at.Token)
}

// checker finds what the parser accepts and Lua 5.1 does not.
type checker struct {
	name  string
	depth int
}

func (c *checker) fail(text string) error {
	return errors.New(c.name + ":" + OneLine(strings.TrimSpace(text)))
}

func (c *checker) block(stmts []ast.Stmt, inLoop bool) error {
	for _, s := range stmts {
		if err := c.node(reflect.ValueOf(s), inLoop); err != nil {
			return err
		}
	}
	return nil
}

// node walks the tree by reflection, so that it sees every child of every kind of node.
func (c *checker) node(v reflect.Value, inLoop bool) error {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice:
		return c.each(v.Len(), v.Index, inLoop)
	case reflect.Struct:
		return c.inside(v, inLoop)
	}
	return nil
}

func (c *checker) each(n int, at func(int) reflect.Value, inLoop bool) error {
	for i := 0; i < n; i++ {
		if err := c.node(at(i), inLoop); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) inside(v reflect.Value, inLoop bool) error {
	if c.depth++; c.depth > maxNesting {
		return c.fail("1: chunk has too many syntax levels")
	}
	defer func() { c.depth-- }()
	switch n := v.Addr().Interface().(type) {
	case *ast.GotoStmt, *ast.LabelStmt:
		return c.fail(fmt.Sprintf("%d: '=' expected", v.Addr().Interface().(ast.Stmt).Line()))
	case *ast.BreakStmt:
		if !inLoop {
			return c.fail(fmt.Sprintf("%d: no loop to break", n.Line()))
		}
	case *ast.WhileStmt, *ast.RepeatStmt, *ast.NumberForStmt, *ast.GenericForStmt:
		inLoop = true
	case *ast.FunctionExpr:
		inLoop = false
	}
	return c.each(v.NumField(), v.Field, inLoop)
}
