package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// bench is one run: its servers, how long it measures, and what it found.
type bench struct {
	ctx    context.Context
	rig    *rig
	rounds int
	length time.Duration
	// idle and held are how many sessions and locks workloads c and f have.
	idle, held int
	out        io.Writer

	table table
	aims  []aim
	notes []string
}

// workload is one of the kinds of work that are measured.
type workload struct {
	name  string
	title string
	// columns are the figures that its table shows.
	columns []string
	run     func(*bench) error
}

func allWorkloads() []workload {
	return []workload{
		{"a", "Lock and release, each client on its own key", cycleColumns, runCycles},
		{"b", "One key that many clients poll for", hotColumns, runHot},
		{"c", "64 busy clients beside idle sessions", idleColumns, runIdle},
		{"d", "16 clients, and one of five masters unwell", faultColumns, runFaults},
		{"e", "Masters a millisecond away", farColumns, runFar},
		{"f", "128 clients beside held locks", heldColumns, runHeld},
	}
}

// contender is a fleet in a condition, with the servers it keeps busy.
type contender struct {
	fleet
	condition string
	clients   int
	parts     parts
}

// compare lets the contenders cycle by turns, beginning with another one each
// round, after a short round to make connections and load scripts.
func (b *bench) compare(workload string, list []contender) error {
	for _, c := range list {
		cycles(c.fleet, c.clients, b.length/5, c.parts)
	}
	for round := range b.rounds {
		for i := range list {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			c := list[(round+i)%len(list)]
			b.keep(workload, c.condition, c.name, cycles(c.fleet, c.clients, b.length, c.parts))
		}
	}
	for _, c := range list {
		b.tell(workload, c.condition, c.name)
	}
	return nil
}

// keep adds a round's figures to the table.
func (b *bench) keep(workload, condition, name string, o outcome) {
	r := b.table.add(workload, condition, name, o.figures())
	if o.first != nil && r.First == "" {
		r.First = strings.ReplaceAll(o.first.Error(), "\n", "; ")
	}
}

// tell says on one line what was measured last.
func (b *bench) tell(workload, condition, name string) {
	r := b.table.row(workload, condition, name)
	fmt.Fprintf(b.out, "  %-22s %-28s", condition, name)
	for _, column := range columnsOf(workload) {
		if f := r.Figures[column]; f != nil && column != failures {
			fmt.Fprintf(b.out, "  %s %s", number(f.Median()), column)
		}
	}
	if f := r.Figures[failures]; f != nil && sum(f.Rounds) > 0 {
		fmt.Fprintf(b.out, "  %.0f failed %s", sum(f.Rounds), r.First)
	}
	fmt.Fprintln(b.out)
}

// figure is what the table has, or nil.
func (b *bench) figure(workload, condition, contender, name string) *figure {
	if r := b.table.row(workload, condition, contender); r != nil {
		return r.Figures[name]
	}
	return nil
}

// aim is what a figure should be.
type aim struct {
	Number   string  `json:"number"`
	Text     string  `json:"text"`
	Measured float64 `json:"measured"`
	Bound    float64 `json:"bound"`
	// AtLeast is whether the bound is a lower one.
	AtLeast bool `json:"at_least"`
	Met     bool `json:"met"`
}

func (b *bench) atLeast(number string, bound, measured float64, text string) {
	b.aims = append(b.aims, aim{number, text, finite(measured), bound, true, measured >= bound})
}

func (b *bench) atMost(number string, bound, measured float64, text string) {
	b.aims = append(b.aims, aim{number, text, finite(measured), bound, false, measured <= bound})
}

// finite is -1 for what could not be measured, which JSON cannot say.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return -1
	}
	return v
}

// note is a sentence for the report.
func (b *bench) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.notes = append(b.notes, text)
	fmt.Fprintln(b.out, "  "+text)
}

func columnsOf(name string) []string {
	for _, w := range allWorkloads() {
		if w.name == name {
			return w.columns
		}
	}
	return nil
}

func sum(list []float64) (all float64) {
	for _, v := range list {
		all += v
	}
	return all
}
