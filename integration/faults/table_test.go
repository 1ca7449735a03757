package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// table counts the answers of each kind, by the strongest cause of each.
type table struct {
	mu   sync.Mutex
	rows map[string]map[string]int
}

const without = "NO CAUSE"

func newTable() *table { return &table{rows: map[string]map[string]int{}} }

func (t *table) count(c *call, found []cause) {
	what := fmt.Sprintf("%s %v", c.kind, c.answer)
	if c.answer == unknown {
		what = c.kind + " NOQUORUM"
	}
	kind := without
	for _, k := range causeKinds {
		if slices.ContainsFunc(found, func(f cause) bool { return f.kind == k }) {
			kind = k
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[what] == nil {
		t.rows[what] = map[string]int{}
	}
	t.rows[what][kind]++
}

func (t *table) String() string {
	var out strings.Builder
	out.WriteString("answers, and the strongest cause of each:\n")
	for _, what := range slices.Sorted(maps.Keys(t.rows)) {
		all := 0
		for _, n := range t.rows[what] {
			all += n
		}
		plain := t.rows[what][holder] + t.rows[what][padding] + t.rows[what][without]
		fmt.Fprintf(&out, "  %-16s %6d, excused %6d:", what, all, all-plain)
		for _, k := range append(slices.Clone(causeKinds), without) {
			if n := t.rows[what][k]; n > 0 {
				fmt.Fprintf(&out, " %s %d,", k, n)
			}
		}
		text := strings.TrimSuffix(out.String(), ",")
		out.Reset()
		out.WriteString(text + "\n")
	}
	return out.String()
}
