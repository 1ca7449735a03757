package main

import (
	"go/ast"
	"go/parser"
	"go/types"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestMutantsCompile keeps the list in step with the code: the text that a mutant replaces is
// there, and what it puts in its place compiles.
func TestMutantsCompile(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*packages.Package{}
	for _, pkg := range loaded {
		for _, file := range pkg.CompiledGoFiles {
			of[file] = pkg
		}
	}
	for _, m := range mutants {
		changed, err := m.replaced()
		if err != nil {
			t.Errorf("%s, %s: %v", m.rule, m.name, err)
			continue
		}
		sources := map[string]string{}
		for file, text := range changed {
			path, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] = text
		}
		for path := range sources {
			if err := check(of[path], sources); err != nil {
				t.Errorf("%s, %s: %v", m.rule, m.name, err)
			}
		}
	}
}

// check returns the first error of a package's types, where some of its files have other
// sources.
func check(pkg *packages.Package, sources map[string]string) error {
	files := make([]*ast.File, len(pkg.CompiledGoFiles))
	for i, path := range pkg.CompiledGoFiles {
		text, other := sources[path]
		if !other {
			files[i] = pkg.Syntax[i]
			continue
		}
		var err error
		if files[i], err = parser.ParseFile(pkg.Fset, path, text, parser.SkipObjectResolution); err != nil {
			return err
		}
	}
	cfg := types.Config{Sizes: pkg.TypesSizes, Importer: importer(func(path string) (*types.Package, error) {
		if path == "unsafe" {
			return types.Unsafe, nil
		}
		return pkg.Imports[path].Types, nil
	})}
	_, err := cfg.Check(pkg.PkgPath, pkg.Fset, files, nil)
	return err
}

type importer func(path string) (*types.Package, error)

func (find importer) Import(path string) (*types.Package, error) { return find(path) }
