package main

import (
	"math"
	"testing"
	"time"
)

func TestRatioIsOfRounds(t *testing.T) {
	// The second round was hit by something, which hit both.
	a, b := &figure{Rounds: []float64{100, 10, 120}}, &figure{Rounds: []float64{50, 5, 40}}
	if got := ratio(a, b); got != 2 {
		t.Errorf("ratio is %v, want 2", got)
	}
	for name, got := range map[string]float64{
		"missing": ratio(nil, b),
		"of zero": ratio(a, &figure{Rounds: []float64{0, 0, 0}}),
		"nothing": median(nil),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: %v, want NaN", name, got)
		}
	}
}

func TestMedianAndPercentile(t *testing.T) {
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median is %v, want 2.5", got)
	}
	times := make([]time.Duration, 100)
	for i := range times {
		times[i] = time.Duration(100 - i)
	}
	for part, want := range map[float64]time.Duration{0.5: 51, 0.99: 100, 1: 100} {
		if got := percentile(times, part); got != want {
			t.Errorf("percentile %v is %v, want %v", part, got, want)
		}
	}
}

func TestAimThatCouldNotBeMeasuredIsNotMet(t *testing.T) {
	b := &bench{}
	b.atLeast("1", 5, math.NaN(), "x")
	b.atMost("1", 5, math.NaN(), "x")
	b.atLeast("1", 5, 5, "x")
	b.atMost("1", 5, 5.1, "x")
	for i, want := range []bool{false, false, true, false} {
		if b.aims[i].Met != want {
			t.Errorf("aim %d is met: %v, want %v", i, b.aims[i].Met, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.03318: "0.0332", 17.84: "17.8", 999.6: "1000", 17812: "17.8k", 198000: "198k"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestRatiosText(t *testing.T) {
	var r ratios
	for i := range 30 {
		r = append(r, 1+float64((i*7)%30)/100)
	}
	if got, want := r.text(), "1.145 (1.090 to 1.200)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
