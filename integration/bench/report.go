package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// setting is where and how a run was made.
type setting struct {
	When     time.Time `json:"when"`
	System   string    `json:"system"`
	Cores    int       `json:"cores"`
	Redis    string    `json:"redis"`
	Redlockd string    `json:"redlockd"`
	Rounds   int       `json:"rounds"`
	Seconds  float64   `json:"seconds"`
	// Load is the system's load before the run: above 1 somebody else was
	// busy. Empty where the system does not tell.
	Load string `json:"load"`
}

func settingOf(ctx context.Context, b *bench) setting {
	said := func(name string, args ...string) string {
		out, _ := exec.CommandContext(ctx, name, args...).Output() // what is not known is not told
		line, _, _ := strings.Cut(string(out), "\n")
		return strings.TrimSpace(line)
	}
	server, _, _ := strings.Cut(said("redis-server", "--version"), " sha")
	load, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(load), " ")
	if busy, err := strconv.ParseFloat(first, 64); err == nil && busy > 0.5*float64(runtime.NumCPU()) {
		b.note("The machine was busy with something else before the run (load %s on %d cores): ratios hold, figures do not.", first, runtime.NumCPU())
	}
	return setting{When: time.Now().UTC().Truncate(time.Second), System: runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version(),
		Cores: runtime.NumCPU(), Redis: server, Redlockd: said(b.rig.binary, "-version"),
		Rounds: b.rounds, Seconds: b.length.Seconds(), Load: first}
}

// write makes results.md, results.json and the charts in a folder.
func (b *bench) write(dir string, s setting) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text strings.Builder
	b.report(&text, s)
	if err := os.WriteFile(filepath.Join(dir, "results.md"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	all, err := json.MarshalIndent(struct {
		Setting setting  `json:"setting"`
		Aims    []aim    `json:"aims"`
		Notes   []string `json:"notes"`
		Rows    []*row   `json:"rows"`
	}{s, b.aims, b.notes, b.table.Rows}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(all, '\n'), 0o644); err != nil {
		return err
	}
	return b.charts(dir)
}

// report writes everything as Markdown that is also readable as it stands.
func (b *bench) report(out io.Writer, s setting) {
	fmt.Fprintf(out, "# Results of `make bench`\n\n")
	fmt.Fprintf(out, "%s, %d cores, %s. %s. %s. %d rounds of %.3g s.", s.System, s.Cores,
		s.When.Format("2 January 2006 15:04 UTC"), s.Redis, s.Redlockd, s.Rounds, s.Seconds)
	if s.Load != "" {
		fmt.Fprintf(out, " Load before: %s.", s.Load)
	}
	fmt.Fprintf(out, "\n\nA figure is the median of the rounds, with the least and the greatest in brackets. µs of\n"+
		"processor time are per cycle of lock and release, those of the masters all together.\n")
	if len(b.aims) > 0 {
		fmt.Fprintf(out, "\n## Aims\n\n")
		grid(out, aimRows(b.aims))
	}
	for _, w := range allWorkloads() {
		if lines := b.rowsOf(w); len(lines) > 1 {
			fmt.Fprintf(out, "\n## %s. %s\n\n", w.name, w.title)
			grid(out, lines)
		}
	}
	for _, kind := range []struct{ through, direct string }{{through, direct}, {throughPipeline, directPipelined}} {
		if lines := b.limit(kind.through, kind.direct); lines != nil {
			fmt.Fprintf(out, "\n## The limit of %s with 128 clients\n\n", kind.through)
			grid(out, lines)
		}
	}
	if len(b.notes) > 0 {
		fmt.Fprintf(out, "\n## Notes\n\n")
		for _, n := range b.notes {
			fmt.Fprintf(out, "- %s\n", n)
		}
	}
}

func aimRows(aims []aim) [][]string {
	lines := [][]string{{"", "ratio or figure", "aim", "measured", "met"}}
	for _, a := range aims {
		sign, met := "at most", "no"
		if a.AtLeast {
			sign = "at least"
		}
		if a.Met {
			met = "yes"
		}
		lines = append(lines, []string{a.Number, a.Text, fmt.Sprintf("%s %.3g", sign, a.Bound), fmt.Sprintf("%.3g", a.Measured), met})
	}
	return lines
}

// rowsOf are the lines of a workload's table, without columns that are empty.
func (b *bench) rowsOf(w workload) [][]string {
	var columns []string
	for _, name := range w.columns {
		for _, r := range b.table.Rows {
			if f := r.Figures[name]; r.Workload == w.name && f != nil && (name != failures || sum(f.Rounds) > 0) {
				columns = append(columns, name)
				break
			}
		}
	}
	lines := [][]string{append([]string{"", "contender"}, columns...)}
	for _, r := range b.table.Rows {
		if r.Workload != w.name {
			continue
		}
		line := []string{r.Condition, r.Contender}
		for _, name := range columns {
			line = append(line, r.cell(name))
		}
		lines = append(lines, line)
	}
	return lines
}

// cell is a median, and where it is what clients see also its spread.
func (r *row) cell(name string) string {
	f := r.Figures[name]
	switch {
	case f == nil:
		return ""
	case name == failures:
		return fmt.Sprint(sum(f.Rounds))
	case len(f.Rounds) == 1 || strings.HasSuffix(name, "µs") || strings.HasSuffix(name, "writes") || name == cores:
		return number(f.Median())
	}
	low, high := f.Spread()
	return fmt.Sprintf("%s (%s-%s)", number(f.Median()), number(low), number(high))
}

// number writes three digits, and thousands as k.
func number(v float64) string {
	switch {
	case v >= 99950:
		return fmt.Sprintf("%.0fk", v/1000)
	case v >= 9995:
		return fmt.Sprintf("%.1fk", v/1000)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// grid writes a table with its columns under each other.
func grid(out io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for n, line := range lines {
		for i, text := range line {
			fmt.Fprintf(out, "| %s%s ", text, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)))
		}
		fmt.Fprintln(out, "|")
		if n == 0 {
			for _, w := range widths {
				fmt.Fprintf(out, "|%s", strings.Repeat("-", w+2))
			}
			fmt.Fprintln(out, "|")
		}
	}
}
