package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDashboardIsJSON(t *testing.T) {
	text, err := os.ReadFile("docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct{ Panels []struct{ Title string } }
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Errorf("%d panels, %v", len(dashboard.Panels), err)
	}
}

// TestDocsExplainEveryLine: an operator who looks up a log line finds its constant part
// in docs/operations.md.
func TestDocsExplainEveryLine(t *testing.T) {
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	for _, source := range sources(t) {
		found = append(found, regexp.MustCompile(`[lL]og\.(?:Info|Warn|Error)\("([^"]+)"`).FindAllStringSubmatch(source, -1)...)
	}
	if len(found) < 20 {
		t.Errorf("found only %d lines", len(found))
	}
	for _, line := range found {
		text, _, _ := strings.Cut(line[1], ":")
		if !strings.Contains(string(docs), "`"+text) {
			t.Errorf("docs/operations.md does not explain %q", line[1])
		}
	}
}

// TestDocsListRealLines: docs/operations.md lists no line that is never logged.
func TestDocsListRealLines(t *testing.T) {
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(sources(t), "\n")
	rows := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| (?:Info|Warn|Error) \\|").FindAllStringSubmatch(string(docs), -1)
	if len(rows) < 20 {
		t.Errorf("found only %d rows", len(rows))
	}
	for _, row := range rows {
		for _, line := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			for part := range strings.SplitSeq(line[1], "...") {
				if !strings.Contains(all, strings.TrimRight(part, ": ")) {
					t.Errorf("docs/operations.md explains %q, and nothing says so", line[1])
				}
			}
		}
	}
}

// TestDocsExplainEveryReason: each reason why a master does not vote is explained.
func TestDocsExplainEveryReason(t *testing.T) {
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	reason := regexp.MustCompile(`[wW]hy[A-Z]\w* += "([^"]+)"|[rR]eason\b[^"\n]*"([a-z][^"%(]+)|errElsewhere = errors\.New\("([^"]+)"`)
	found := 0
	for _, source := range sources(t) {
		for line := range strings.Lines(source) {
			m := reason.FindStringSubmatch(line)
			if m == nil || strings.Contains(line, "log.") || !strings.HasPrefix(source, "package cluster") && !strings.HasPrefix(source, "package mark") {
				continue
			}
			found++
			if text := strings.TrimRight(m[1]+m[2]+m[3], " :"); !strings.Contains(string(docs), "`"+text) {
				t.Errorf("docs/operations.md does not explain %q", text)
			}
		}
	}
	if found < 18 {
		t.Errorf("found only %d reasons", found)
	}
}

// sources returns the code of all packages, without tests.
func sources(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"*.go", "internal/*/*.go", "proxy/*.go", "proxy/*/*.go", "quorum/*.go", "quorum/*/*.go", "commands/*.go", "commands/grammar/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "_test.go") {
				texts = append(texts, string(text))
			}
		}
	}
	return texts
}

// TestDocsTellAllocations: docs/performance.md has the figures that the tests enforce.
func TestDocsTellAllocations(t *testing.T) {
	docs, err := os.ReadFile("docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, folder := range []string{"proxy", "commands", "commands/script", "quorum"} {
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(folder), "allocations_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range regexp.MustCompile(`\{"([^"]+)", (\d+), `).FindAllSubmatch(text, -1) {
			found++
			if row := "| " + string(a[1]) + " | " + string(a[2]) + " |"; !strings.Contains(string(docs), row) {
				t.Errorf("docs/performance.md has no row %q", row)
			}
		}
	}
	if found < 8 {
		t.Errorf("found only %d figures", found)
	}
}

// TestDocsExplainEveryAlert: each alert is explained with what to do.
func TestDocsExplainEveryAlert(t *testing.T) {
	rules, err := os.ReadFile("docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) < 5 {
		t.Errorf("found only %d alerts", len(alerts))
	}
	for _, alert := range alerts {
		if !strings.Contains(string(docs), "\n| `"+alert[1]+"` |") {
			t.Errorf("docs/operations.md does not explain %s", alert[1])
		}
	}
}

// TestDocsNameRealErrors: docs/operations.md quotes errors as they are answered.
func TestDocsNameRealErrors(t *testing.T) {
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(sources(t), "\n")
	errors := regexp.MustCompile("[|,] `((?:ERR|NOAUTH|WRONGPASS|NOPERM) [^`]*)`").FindAllStringSubmatch(string(docs), -1)
	if len(errors) < 10 {
		t.Errorf("found only %d errors", len(errors))
	}
	for _, e := range errors {
		// What is left between the parts that depend on the case.
		for _, part := range regexp.MustCompile(`\.\.\.|'[a-z.]*'|: above max_ttl|[0-9]+ ms`).Split(e[1], -1) {
			if part = strings.Trim(part, " ',:"); part != "" && !strings.Contains(all, part) {
				t.Errorf("docs/operations.md has %q, and nothing answers %q", e[1], part)
			}
		}
	}
}

// TestDocsNameRealNoQuorum: the same for the texts of NOQUORUM, between the numbers and
// what depends on the case.
func TestDocsNameRealNoQuorum(t *testing.T) {
	docs, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(sources(t), "\n")
	forms := regexp.MustCompile("(?m)^\\| `((?:NOQUORUM|\\.\\.\\.) [^`]*)` \\|").FindAllStringSubmatch(string(docs), -1)
	if len(forms) < 15 {
		t.Errorf("found only %d forms", len(forms))
	}
	for _, form := range forms {
		for _, part := range regexp.MustCompile(`\.\.\.|\b[0-9][0-9a-z]*\b|\b[c-e] | waiting |[(),:;]|\bOOM\b`).Split(form[1], -1) {
			if part = strings.TrimSpace(part); part != "" && !strings.Contains(all, part) {
				t.Errorf("docs/operations.md has %q, and nothing says %q", form[1], part)
			}
		}
	}
}

// TestDocsLinksLead: every link in the documents leads to a file, and to a heading in it.
func TestDocsLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	found := 0
	for path, text := range tree(t) {
		if !strings.HasSuffix(path, ".md") || path == "integration/clients/elsewhere.md" {
			continue // the latter is a part of docs/clients.md, see TestClientsRunByHand
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			to, anchor, _ := strings.Cut(m[1], "#")
			if to = filepath.Join(filepath.Dir(path), to); strings.HasPrefix(m[1], "#") {
				to = path
			}
			target, err := os.Stat(to)
			if err != nil || anchor != "" && (target.IsDir() || !anchors(t, to)[anchor]) {
				t.Errorf("%s has a link that leads nowhere: %s", path, m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("found only %d links", found)
	}
}

// anchors returns the headings of a document, in the form used in links.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(name, " ", "-")] = true
	}
	return out
}

// TestClientsRunByHand: docs/clients.md, which make clients rewrites, includes the
// results of the runs by hand.
func TestClientsRunByHand(t *testing.T) {
	docs, err := os.ReadFile("docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	byHand, err := os.ReadFile("integration/clients/elsewhere.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(docs), "\n"+string(byHand)+"\n## Stand-ins\n") {
		t.Error("docs/clients.md lacks what integration/clients/elsewhere.md says")
	}
}
