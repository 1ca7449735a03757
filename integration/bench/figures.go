package main

import (
	"math"
	"slices"
	"time"
)

// figures are what one round of one contender gave, by the names of columns.
type figures map[string]float64

// row is one line of a table: what a contender did under some condition, in
// every round.
type row struct {
	Workload  string             `json:"workload"`
	Condition string             `json:"condition"`
	Contender string             `json:"contender"`
	Figures   map[string]*figure `json:"figures"`
	// First is the first thing that went wrong, if anything did.
	First string `json:"first_error,omitempty"`
}

// figure is one value over all rounds.
type figure struct {
	Rounds []float64 `json:"rounds"`
}

// Median is what is told of it.
func (f *figure) Median() float64 { return median(f.Rounds) }

// Spread is the least and the greatest.
func (f *figure) Spread() (low, high float64) { return slices.Min(f.Rounds), slices.Max(f.Rounds) }

// table gathers the rows of a workload, in the order in which they came.
type table struct {
	Rows []*row `json:"rows"`
}

// add takes the figures of one round.
func (t *table) add(workload, condition, contender string, f figures) *row {
	r := t.row(workload, condition, contender)
	if r == nil {
		r = &row{Workload: workload, Condition: condition, Contender: contender, Figures: map[string]*figure{}}
		t.Rows = append(t.Rows, r)
	}
	for name, value := range f {
		if r.Figures[name] == nil {
			r.Figures[name] = &figure{}
		}
		r.Figures[name].Rounds = append(r.Figures[name].Rounds, value)
	}
	return r
}

func (t *table) row(workload, condition, contender string) *row {
	for _, r := range t.Rows {
		if r.Workload == workload && r.Condition == condition && r.Contender == contender {
			return r
		}
	}
	return nil
}

// ratio is the median of the rounds' own ratios of two figures, so that what
// hit a round hits both. It is NaN when there is nothing to compare.
func ratio(a, b *figure) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	var list []float64
	for i := range min(len(a.Rounds), len(b.Rounds)) {
		if b.Rounds[i] != 0 {
			list = append(list, a.Rounds[i]/b.Rounds[i])
		}
	}
	return median(list)
}

// median is NaN of nothing.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// percentile sorts the times and returns the one that a part of them do not
// exceed; 0 of nothing.
func percentile(times []time.Duration, part float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(part*float64(len(times))), len(times)-1)]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
