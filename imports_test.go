package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/redlockd/redlockd"

// uses lists which packages a package may import: a command goes through the packages in
// a straight line, and no package calls back up. The name is the folder; "" is the
// program.
var uses = map[string][]string{
	"":                      {"internal/admin", "internal/config", "internal/certificates", "internal/certtest", "internal/journal", "proxy", "commands", "quorum"},
	"internal/admin":        {"internal/config", "internal/journal", "status", "proxy", "proxy/history", "quorum"},
	"internal/config":       {"internal/address", "internal/certificates", "internal/invalid", "internal/certtest", "proxy", "proxy/history", "proxy/users", "commands", "quorum"},
	"internal/certificates": {"internal/certtest", "quorum"},
	"internal/certtest":     {},
	"internal/invalid":      {},
	"internal/address":      {},
	"internal/journal":      {},
	"status":                {"internal/journal", "proxy", "proxy/history", "quorum"},
	"proxy":                 {"internal/invalid", "internal/resp", "proxy/epoll", "proxy/history", "proxy/memory", "proxy/notify", "proxy/replies", "proxy/users", "commands", "commands/grammar", "commands/values", "quorum"},
	"proxy/memory":          {},
	"proxy/replies":         {"internal/resp", "proxy/epoll", "proxy/history", "proxy/memory", "commands", "quorum"},
	"proxy/notify":          {"internal/resp", "commands", "quorum"},
	"proxy/users":           {"internal/invalid", "internal/resp", "commands"},
	"proxy/epoll":           {},
	"proxy/history":         {"internal/resp", "quorum"},
	"commands":              {"internal/invalid", "internal/resp", "commands/script", "commands/grammar", "commands/values", "quorum"},
	"commands/script":       {"internal/resp", "commands/script/cjson", "commands/script/lua", "commands/grammar", "commands/values"},
	"commands/values":       {},
	"commands/script/cjson": {"commands/script/lua"},
	// The Lua interpreter, whatever it is used for.
	"commands/script/lua": {},
	"internal/resp":       {},
	// The grammar shared by commands and scripts.
	"commands/grammar": {},
	// Operations know the masters, and the masters the tasks that wait for them, but not
	// the other way round.
	"quorum":           {"quorum/fakeredis", "quorum/cluster", "quorum/pubsub", "quorum/outbox", "quorum/latency", "quorum/clock", "quorum/mark", "quorum/scripts", "quorum/tail", "quorum/vote"},
	"quorum/cluster":   {"internal/address", "internal/certtest", "internal/invalid", "quorum/outbox", "quorum/latency", "quorum/clock", "quorum/mark", "quorum/scripts", "quorum/tail", "quorum/vote"},
	"quorum/pubsub":    {"quorum/fakeredis", "quorum/cluster", "quorum/clock", "quorum/mark", "quorum/vote"},
	"quorum/outbox":    {"quorum/fakeredis", "quorum/clock", "quorum/mark", "quorum/scripts", "quorum/tail", "quorum/vote"},
	"quorum/latency":   {},
	"quorum/storms":    {"quorum", "quorum/fakeredis", "quorum/cluster", "quorum/clock", "quorum/mark", "quorum/tail", "quorum/vote"},
	"quorum/fakeredis": {"quorum/mark", "quorum/tail"},
	// The pure parts of quorum: they do no I/O and wait for nothing.
	"quorum/clock":   {},
	"quorum/tail":    {},
	"quorum/vote":    {"quorum/tail"},
	"quorum/scripts": {"quorum/tail"},
	"quorum/mark":    {"quorum/clock"},
	"integration":    {},
	"docs/model":     {},
	// The package that builds and checks the releases knows redlockd only by its files.
	"packaging": {},
}

// forTests are packages that only tests may import.
var forTests = []string{"internal/certtest", "quorum/fakeredis"}

// homes says where a library may be imported, so that only one package depends on it.
// "tests" is every test.
var homes = map[string][]string{
	"github.com/tidwall/redcon":         {"internal/resp"},
	"github.com/coreos/go-systemd":      {""},
	"github.com/google/licensecheck":    {"packaging"},
	"github.com/redis/rueidis":          {"quorum/cluster", "quorum/outbox"},
	"github.com/yuin/gopher-lua":        {"commands/script/lua", "quorum/fakeredis", "tests"},
	"github.com/zeebo/xxh3":             {"commands/grammar"},
	"github.com/hashicorp/hcl":          {"internal/config"},
	"github.com/prometheus":             {"internal/admin"},
	"github.com/zclconf/go-cty":         {"internal/config"},
	"github.com/hashicorp/golang-lru":   {"proxy/history", "proxy/notify"},
	"github.com/hashicorp/go-hclog":     {"", "internal/admin", "internal/certificates", "internal/journal", "proxy", "proxy/replies", "quorum", "quorum/cluster", "quorum/pubsub", "tests"},
	"golang.org/x/sys":                  {"proxy/epoll", "quorum/clock", "integration"},
	"golang.org/x/sync":                 {"integration"}, // errgroup, for the mutants
	"github.com/alicebob/miniredis":     {""},
	"github.com/redis/go-redis":         {"integration", "tests"},
	"github.com/go-redsync/redsync":     {"tests"},
	"github.com/Shopify/toxiproxy":      {"integration"},
	"github.com/rs/zerolog":             {"integration"}, // toxiproxy needs it
	"github.com/anishathalye/porcupine": {"tests"},
}

// pkg is the part of go list's output that is needed.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportRules(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, problem := range importProblems(p) {
			t.Error(problem)
		}
	}
	if seen < len(uses)-1 {
		t.Errorf("go list told of %d packages, want them all", seen)
	}
}

// importProblems returns which imports of a package break a rule.
func importProblems(p pkg) []string {
	owner, ok := ownerOf(p.ImportPath)
	if !ok {
		return []string{p.ImportPath + " is in no package of the list"}
	}
	var problems []string
	for _, path := range p.Imports {
		if !mayImport(owner, path, false) {
			problems = append(problems, fmt.Sprintf("%s must not import %s", p.ImportPath, path))
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if !mayImport(owner, path, true) {
			problems = append(problems, fmt.Sprintf("a test of %s must not import %s", p.ImportPath, path))
		}
	}
	return problems
}

// mayImport reports whether a file of the package owner may import path.
func mayImport(owner, path string, test bool) bool {
	if other, ok := ownerOf(path); ok {
		helps := slices.Contains(forTests, other)
		return other == owner || slices.Contains(uses[owner], other) && (test || !helps)
	}
	for library, allowed := range homes {
		if within(path, library) {
			return slices.Contains(allowed, owner) || test && slices.Contains(allowed, "tests")
		}
	}
	// Of the libraries that homes does not list, only the standard library may be used
	// everywhere; the first part of its paths has no dot.
	first, _, _ := strings.Cut(path, "/")
	return test || !strings.Contains(first, ".")
}

// ownerOf returns the listed package that a path belongs to: the folder itself or the
// nearest one above.
func ownerOf(path string) (string, bool) {
	if !within(path, module) {
		return "", false
	}
	folder := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	owner, found := "", folder == ""
	for name := range uses {
		if name != "" && within(folder, name) && len(name) > len(owner) {
			owner, found = name, true
		}
	}
	return owner, found
}

// within reports whether path is the folder or lies in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// TestImportRulesCatch breaks each rule once.
func TestImportRulesCatch(t *testing.T) {
	tests := []struct{ from, to string }{
		{"/quorum", module + "/proxy"},
		{"/quorum", module + "/commands"},
		{"/quorum", module + "/quorum/fakeredis"},
		{"/quorum/fakeredis", module + "/quorum"},
		{"/quorum/clock", module + "/quorum"},
		{"/quorum/cluster", module + "/quorum"},
		{"/quorum/outbox", module + "/quorum/cluster"},
		{"/quorum", "github.com/redis/rueidis"},
		{"/quorum/mark", module + "/quorum"},
		{"/quorum/vote", module + "/quorum/mark"},
		{"/commands", module + "/quorum/vote"},
		{"/quorum/mark", "github.com/redis/rueidis"},
		{"/quorum/clock", "github.com/redis/rueidis"},
		{"/proxy", module + "/quorum/clock"},
		{"/commands", module + "/proxy"},
		{"/commands/script", module + "/quorum"},
		{"/commands/script", "github.com/yuin/gopher-lua/ast"},
		{"/commands/script/lua", module + "/commands/script"},
		{"/commands/script/lua", module + "/commands/grammar"},
		{"/commands/script/lua", module + "/commands/script/cjson"},
		{"/commands", module + "/commands/script/lua"},
		{"/proxy/replies", module + "/proxy"},
		{"/proxy/history", module + "/proxy/replies"},
		{"/proxy", module},
		{"/proxy", module + "/commands/script"},
		{"/integration", module + "/quorum"},
		{"/proxy", "github.com/tidwall/redcon"},
		{"/internal/resp", module + "/commands"},
		{"/proxy", "github.com/redis/rueidis"},
		{"", "github.com/redis/rueidis/rueidislock"},
		{"/quorum", "github.com/hashicorp/hcl/v2/gohcl"},
		{"/commands", "github.com/yuin/gopher-lua"},
		{"/commands", "github.com/hashicorp/go-hclog"},
		{"/quorum", "github.com/alicebob/miniredis/v2"},
		{"", "github.com/redis/go-redis/v9"},
		{"", "github.com/hashicorp/hcl/v2"},
		{"", "github.com/prometheus/client_golang/prometheus"},
		{"/proxy", "github.com/Shopify/toxiproxy/v2"},
		{"/internal/admin", module},
		{"/internal/admin", module + "/internal/certificates"},
		{"/internal/config", module},
		{"/internal/config", module + "/internal/admin"},
		{"/internal/config", module + "/internal/certtest"},
		{"/internal/certificates", module + "/internal/config"},
		{"/proxy", module + "/internal/certificates"},
		{"/integration/rig", module + "/proxy"},
		{"/proxy", "example.com/new"},
		{"/helpers", "fmt"},
	}
	for _, test := range tests {
		p := pkg{ImportPath: module + test.from, Imports: []string{test.to}}
		if len(importProblems(p)) == 0 {
			t.Errorf("%s may import %s", p.ImportPath, test.to)
		}
	}
	allowed := pkg{ImportPath: module + "/quorum/cluster", Imports: []string{"net", "github.com/redis/rueidis", module + "/quorum/mark"},
		TestImports: []string{"github.com/yuin/gopher-lua"}}
	if got := importProblems(allowed); len(got) > 0 {
		t.Errorf("refused: %q", got)
	}
}
