package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const designFile = "docs/design.md"

// TestRules: docs/design.md is the specification. Every rule that is cited is defined
// there, and every rule there has a test that bears its name.
func TestRules(t *testing.T) {
	defined := definedRules(t)
	if len(defined) < 40 {
		t.Fatalf("%s defines only %d rules", designFile, len(defined))
	}
	tests, cited := map[string]bool{}, map[string]string{}
	test := regexp.MustCompile(`(?m)^func Test([PCVMS][0-9]{1,2})[A-Z]`)
	for path, text := range tree(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range test.FindAllSubmatch(text, -1) {
				tests[string(m[1])] = true
			}
		}
		for _, rule := range citations(path, text) {
			cited[rule] = path
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(cited)) {
		if !defined[rule] {
			t.Errorf("%s cites %s, which %s does not define", cited[rule], rule, designFile)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(defined)) {
		if !tests[rule] {
			t.Errorf("no test bears the name of %s (Test%sSomething)", rule, rule)
		}
	}
}

// TestRulesStateThreeFacts: a rule consists of at most three sentences and its reason, and
// no sentence is so long that it hides a fourth fact.
func TestRulesStateThreeFacts(t *testing.T) {
	text, err := os.ReadFile(designFile)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	rule := regexp.MustCompile(`(?m)^- \*\*([PCVMS][0-9]+) [^*]*\*\* (.*\n(?:  .*\n)*)`)
	closing := regexp.MustCompile(` (?:Why: |\[More\]|Traces? [0-9])`)
	for _, m := range rule.FindAllSubmatch(text, -1) {
		found++
		facts := closing.Split(strings.Join(strings.Fields(string(m[2])), " "), 2)[0]
		sentences := strings.Split(strings.TrimSuffix(facts, "."), ". ")
		if len(sentences) > 3 {
			t.Errorf("%s states %d facts: %s", m[1], len(sentences), facts)
		}
		for _, s := range sentences {
			if n := len(strings.Fields(s)); n > 45 {
				t.Errorf("%s has a sentence of %d words: %s", m[1], n, s)
			}
		}
	}
	if found < 40 {
		t.Errorf("found only %d rules", found)
	}
	for line := range strings.Lines(string(text)) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("a line of %s has %d characters: %.40s...", designFile, n, line)
		}
	}
}

// TestTraces: the traces are numbered without holes, each rule cites those that it closes and
// no others, and a trace that is cited anywhere is there.
func TestTraces(t *testing.T) {
	files := tree(t)
	text := string(files[designFile])
	closes, n := map[string][]int{}, 0
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9]+)\*? \| .* \| ([^|]*) \|$`).FindAllStringSubmatch(text, -1) {
		if n++; m[1] != strconv.Itoa(n) {
			t.Fatalf("%s has trace %s in the place of %d", designFile, m[1], n)
		}
		for _, rule := range citation.FindAllString(m[2], -1) {
			closes[rule] = append(closes[rule], n)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^- \*\*([CVMS][0-9]+) .*\n(?:  .*\n)*`).FindAllStringSubmatch(text, -1) {
		if got := citedTraces(m[0]); !slices.Equal(got, closes[m[1]]) {
			t.Errorf("%s cites the traces %v, want %v, which it closes", m[1], got, closes[m[1]])
		}
	}
	found := 0
	for path, text := range files {
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" {
			continue
		}
		for _, trace := range citedTraces(string(text)) {
			if found++; trace < 1 || trace > n {
				t.Errorf("%s cites trace %d, which %s does not have", path, trace, designFile)
			}
		}
	}
	if found < 200 {
		t.Errorf("found only %d citations of traces", found)
	}
}

// citedTraces returns the numbers of the traces that a text cites, as "trace 7", "why 7, 8" or
// "Traces 7 to 9, 12".
func citedTraces(text string) (out []int) {
	list := regexp.MustCompile(`\b(?:why|[Tt]races?)((?:(?:\s|//|,|\band|\bto)+[0-9]{1,3}\b)+)`)
	part := regexp.MustCompile(`([0-9]+)(?:\s+to\s+([0-9]+))?`)
	for _, m := range list.FindAllStringSubmatch(text, -1) {
		for _, p := range part.FindAllStringSubmatch(m[1], -1) {
			from, _ := strconv.Atoi(p[1])
			last, _ := strconv.Atoi(p[2])
			for trace := from; trace <= max(from, last); trace++ {
				out = append(out, trace)
			}
		}
	}
	return out
}

// definedRules returns the rules of the specification, each of which is defined once.
func definedRules(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(designFile)
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- \*\*([PCVMS][0-9]+) `).FindAllSubmatch(text, -1) {
		if rule := string(m[1]); defined[rule] {
			t.Errorf("%s defines %s twice", designFile, rule)
		} else {
			defined[rule] = true
		}
	}
	return defined
}

// citation matches what looks like a rule's name. notRules match it too but are not
// rules: curves, quantiles, and names in other projects' licences and samples.
var (
	citation = regexp.MustCompile(`\b[PCVMS][0-9]+\b`)
	notRules = map[string]bool{"P50": true, "P99": true, "P224": true, "P256": true, "P384": true, "P521": true}
)

// citations returns the rules that a text cites: code, documents, samples and build
// files.
func citations(path string, text []byte) []string {
	if !slices.Contains([]string{".go", ".md", ".pml", ".hcl", ".yml", ".yaml"}, filepath.Ext(path)) && path != "Makefile" {
		return nil
	}
	var out []string
	for _, m := range citation.FindAll(text, -1) {
		if rule := string(m); !notRules[rule] {
			out = append(out, rule)
		}
	}
	return out
}

// notOurs are folders with data, and with output of tests and builds.
var notOurs = []string{"testdata", "bin", "dist", "node_modules", "target", "vendor"}

// tree returns the contents of all files of this project by their paths.
func tree(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(notOurs, name) || len(name) > 1 && name[0] == '.'):
			return filepath.SkipDir
		case d.Type().IsRegular():
			out[filepath.ToSlash(path)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
