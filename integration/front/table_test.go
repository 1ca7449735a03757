package front

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	tableBegins = "<!-- make front writes from here -->\n"
	tableEnds   = "<!-- to here -->\n"
)

// writeTable replaces the table of the report.
func writeTable(t *testing.T, rows []*row) {
	t.Helper()
	text, err := os.ReadFile(*report)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !found || !ends {
		t.Fatalf("%s has no lines %q and %q", *report, tableBegins, tableEnds)
	}
	text = []byte(before + tableBegins + table(rows) + tableEnds + after)
	if err := os.WriteFile(*report, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// table is the rows in Markdown, with what the machine was like.
func table(rows []*row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d processors, load %s at the end. Each fault %d times.\n\n", time.Now().Format(time.DateOnly), runtime.NumCPU(), load(), *rounds)
	b.WriteString("| by | client |")
	for _, f := range faults {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(faults)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |", r.means.name, r.client.name)
		for _, f := range faults {
			fmt.Fprintf(&b, " %s |", r.worst[f.name])
		}
		b.WriteString("\n")
	}
	if os.Getenv("FRONT_DOTNET") == "" {
		b.WriteString("\nStackExchange.Redis was left out: FRONT_DOTNET named no program.\n")
	}
	return b.String()
}

// String is a cell of the table.
func (w worst) String() string {
	switch {
	case w.runs < *rounds:
		return "failed"
	case w.never:
		return "**never**"
	}
	if w.gap == 0 {
		return fmt.Sprintf("moves, %d", w.errors)
	}
	return fmt.Sprintf("%.1f s, %d", w.gap.Seconds(), w.errors)
}

// load is what the system says of the last minutes, or nothing.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}
