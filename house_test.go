package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// maxFileLines and maxFuncLines are the limits for production code. Tests may be longer,
// because a table of cases is read from top to bottom.
const (
	maxFileLines = 250
	maxFuncLines = 60
)

// longer are the files and functions beyond the limits, each with its reason. A function
// is named by its file and name.
var longer = map[string]string{
	"integration/mutants/list.go":           "a table: one line or two for each mutant",
	"quorum/attempt.go":                     "one attempt from its first byte to its verdict",
	"quorum/cluster/reconcile.go reconcile": "what follows a look, in the order that M3 and M9 need",
}

// TestHouseLimits: files and functions are short enough to be read to their end.
func TestHouseLimits(t *testing.T) {
	needed := map[string]bool{}
	beyond := func(name string, lines, most int) {
		if lines <= most {
			return
		}
		if needed[name] = true; longer[name] == "" {
			t.Errorf("%s has %d lines, and %d is the limit: split it, or give a reason here", name, lines, most)
		}
	}
	for name, text := range tree(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		beyond(name, strings.Count(string(text), "\n"), maxFileLines)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				beyond(name+" "+f.Name.Name, files.Position(f.End()).Line-files.Position(f.Pos()).Line+1, maxFuncLines)
			}
		}
	}
	for name := range longer {
		if !needed[name] {
			t.Errorf("%s is within the limits, or is gone: take it out of the exceptions", name)
		}
	}
}

// ofNoRule are the tests of quorum that are named after no rule and no file: what tests share,
// figures, and what goes through many rules.
var ofNoRule = regexp.MustCompile(`^(fakes|fake_.*|race_.*|allocations|bench|logged|traces|master_rules|vote_rules)$`)

// TestTestsAreFound: the tests of package quorum are in files that are named after a rule whose
// tests they have (m5_doubt_test.go), or after the file that they test.
func TestTestsAreFound(t *testing.T) {
	files := tree(t)
	rule := regexp.MustCompile(`^([cmpsv][0-9]+)_`)
	found := 0
	for name, text := range files {
		stem, ok := strings.CutSuffix(path.Base(name), "_test.go")
		if path.Dir(name) != "quorum" || !ok {
			continue
		}
		found++
		first, _, _ := strings.Cut(stem, "_")
		_, ofFile := files["quorum/"+first+".go"]
		if m := rule.FindStringSubmatch(stem); m != nil {
			if !regexp.MustCompile(`(?m)^func Test` + strings.ToUpper(m[1]) + `[A-Z]`).Match(text) {
				t.Errorf("%s has no test of the rule %s", name, strings.ToUpper(m[1]))
			}
		} else if !ofFile && !ofNoRule.MatchString(stem) {
			t.Errorf("%s is named after no rule and no file of quorum", name)
		}
	}
	if found < 50 {
		t.Errorf("found only %d files", found)
	}
}

// TestDocsNameRealFiles: the files named in documents and package comments exist. In a
// document, a name without a folder may be in any package; in a package's comment it is
// in that package.
func TestDocsNameRealFiles(t *testing.T) {
	files := tree(t)
	names := map[string]bool{}
	for name := range files {
		names[path.Base(name)] = true
	}
	document := regexp.MustCompile("`([a-z0-9_./]+\\.(?:go|md|hcl))`")
	comment := regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)
	found := 0
	for name, text := range files {
		switch {
		case name == "CONTRIBUTING.md" || name == "docs/design.md" || strings.HasPrefix(name, "docs/decisions/"):
			for _, m := range document.FindAllStringSubmatch(string(text), -1) {
				found++
				if _, there := files[m[1]]; !there && (strings.Contains(m[1], "/") || !names[m[1]]) {
					t.Errorf("%s names %s, which is not there", name, m[1])
				}
			}
		case path.Base(name) == "doc.go":
			for _, file := range comment.FindAllString(string(text), -1) {
				found++
				if _, there := files[path.Join(path.Dir(name), file)]; !there {
					t.Errorf("%s names %s, which is not there", name, file)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("found only %d names of files", found)
	}
}

// TestPackageDocsNameEveryFile: a package's comment names all of its files.
func TestPackageDocsNameEveryFile(t *testing.T) {
	files := tree(t)
	for _, folder := range []string{"proxy", "proxy/epoll", "proxy/history", "proxy/memory", "proxy/notify", "proxy/replies", "proxy/users", "internal/resp",
		"quorum", "quorum/cluster", "quorum/fakeredis", "quorum/outbox", "quorum/pubsub", "quorum/clock", "quorum/mark", "quorum/vote", "quorum/scripts", "commands", "commands/script", "commands/script/lua", "commands/grammar"} {
		comment := string(files[folder+"/doc.go"])
		if comment == "" {
			t.Errorf("%s has no doc.go", folder)
		}
		for name := range files {
			base := path.Base(name)
			if path.Dir(name) != folder || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || base == "doc.go" {
				continue
			}
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(base)).MatchString(comment) {
				t.Errorf("%s/doc.go does not say what %s holds", folder, base)
			}
		}
	}
}
