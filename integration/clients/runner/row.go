package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// outcome is one program against one target.
type outcome struct {
	steps   []string // in the order they were printed
	results map[string]any
	failure string // why there are not more steps
}

// status is what is said of a library.
type status string

const (
	ok      status = "ok"
	differs status = "differs"
	broken  status = "broken" // fails against the plain Redis: the program's own fault
	missing status = "missing"
	refused status = "refused" // as was expected
)

// row is one library's line in the table.
type row struct {
	language, name, version, note string
	max                           bool      // ran with no_expiry = "max_ttl"
	standIn                       bool      // ours, in place of the library
	refused                       *refusal  // redlockd cannot serve it
	missing                       string    // why it did not run
	runs                          []outcome // one redis, all well, two dead
	targets                       []target  // of these runs
	began                         time.Time
}

// difference is a step that redlockd does not answer as Redis does.
type difference struct {
	step      string
	want, got string
	where     string
}

func (r row) status() status {
	switch {
	case r.missing != "":
		return missing
	case r.broken() != "":
		return broken
	case len(r.differences(1))+len(r.differences(2)) > 0:
		return differs
	case r.refused != nil:
		return refused
	default:
		return ok
	}
}

// broken says what failed against the plain Redis: a step whose result begins
// with FAILED, or the program itself.
func (r row) broken() string {
	if r.runs[0].failure != "" {
		return r.runs[0].failure
	}
	for _, step := range r.runs[0].steps {
		if text := show(r.runs[0].results[step]); strings.Contains(text, "FAILED") {
			return step + ": " + text
		}
	}
	return ""
}

// differences compares a run with the plain Redis's. Where redlockd has to refuse, the only
// difference is that it does not.
func (r row) differences(target int) []difference {
	if r.refused == nil {
		return r.compared(target)
	}
	if got := r.firstDifference(target); !strings.Contains(got, r.refused.Error) {
		return []difference{{"the refusal", r.refused.Error, got, targetNames[target]}}
	}
	return nil
}

// firstDifference is the first result that is not the plain Redis's, "" if there is none.
func (r row) firstDifference(target int) string {
	if all := r.compared(target); len(all) > 0 {
		return all[0].got
	}
	return ""
}

func (r row) compared(target int) []difference {
	var out []difference
	want, got := r.runs[0], r.runs[target]
	for _, step := range want.steps {
		g, said := got.results[step]
		switch {
		case !said:
			why := "not reached"
			if got.failure != "" {
				why = got.failure
			}
			return append(out, difference{step, show(want.results[step]), why, targetNames[target]})
		case !reflect.DeepEqual(g, want.results[step]):
			out = append(out, difference{step, show(want.results[step]), show(g), targetNames[target]})
		}
	}
	if got.failure != "" {
		out = append(out, difference{"end", "", got.failure, targetNames[target]})
	}
	return out
}

// outOfTime reports whether the first that differs is a NOQUORUM.
func (r row) outOfTime() bool {
	if r.status() != differs {
		return false
	}
	for target := range r.runs {
		if d := r.differences(target); len(d) > 0 && !strings.Contains(d[0].got, "NOQUORUM") {
			return false
		}
	}
	return true
}

// line is what the runner prints of the row.
func (r row) line() string {
	head := fmt.Sprintf("%-8s %-7s %s", r.status(), r.language, strings.TrimSpace(r.name+" "+r.version))
	switch r.status() {
	case missing:
		return head + ": " + r.missing
	case broken:
		return head + ": " + short(r.broken(), 300)
	case differs:
		for _, d := range r.allDifferences() {
			head += fmt.Sprintf("\n         %s, %s: redis %s, redlockd %s", d.where, d.step, short(d.want, 80), short(d.got, 200))
		}
	}
	return head
}

// allDifferences are those of both targets, told once where they are equal.
func (r row) allDifferences() []difference {
	well, dead := r.differences(1), r.differences(2)
	var out []difference
	for _, d := range well {
		also := slices.IndexFunc(dead, func(o difference) bool { return o.step == d.step && o.got == d.got })
		if also >= 0 {
			dead = slices.Delete(dead, also, also+1)
			d.where = "both"
		}
		out = append(out, d)
	}
	return append(out, dead...)
}

func show(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}
