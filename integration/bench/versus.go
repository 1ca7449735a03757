package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// pairs is how many pairs of turns each number of clients gets, and pairTurn how
	// long a turn lasts: a busy machine changes less in that than between rounds.
	pairs    = 30
	pairTurn = 400 * time.Millisecond
)

// versus compares redlockd with another one, each over masters of its own, by pairs
// of short turns that begin with another one each time. Of the ratios of all pairs
// the median is told, with the range that it lies in at 95 %.
func (b *bench) versus(now, before *cluster) error {
	for _, n := range clientCounts {
		for _, kind := range []string{through, throughPipeline} {
			rates, times, masters, err := b.pairs(kind, n, now, before)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("%s, %s: beside the redlockd of before: cycles/s %s, processor time %s, the masters' %s.",
				clientsText(n), kind, rates.text(), times.text(), masters.text())
			fmt.Fprintln(b.out, "  "+text)
			b.note("%s", text)
		}
	}
	return nil
}

// pairs measures the ratios of cycles/s, and of redlockd's and the masters' processor time for each.
func (b *bench) pairs(kind string, n int, now, before *cluster) (rates, times, masters ratios, err error) {
	var sides [2]contender
	for i, c := range []*cluster{now, before} {
		var f fleet
		if kind == through {
			f = goRedis(kind, c.redlockd.addr, n)
		} else if f, err = pipelining(kind, c.redlockd.addr, n); err != nil {
			return nil, nil, nil, err
		}
		sides[i] = contender{f, "", n, parts{masters: c.masters, redlockd: c.redlockd}}
		defer sides[i].close()
		cycles(sides[i].fleet, n, pairTurn/2, sides[i].parts)
	}
	for turn := range pairs {
		if err := b.ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		var got [2]figures
		for k := range sides {
			i := (turn + k) % len(sides)
			got[i] = cycles(sides[i].fleet, n, pairTurn, sides[i].parts).figures()
		}
		rates = append(rates, got[0][perSecond]/got[1][perSecond])
		times = append(times, got[0][cpuRedlockd]/got[1][cpuRedlockd])
		masters = append(masters, got[0][cpuMasters]/got[1][cpuMasters])
	}
	return rates, times, masters, nil
}

// ratios are those of pairs of turns.
type ratios []float64

func (r ratios) text() string {
	list := slices.Sorted(slices.Values(r))
	// The ranks that hold the median of so many at 95 %, by the normal approximation
	// of the binomial distribution.
	half := 0.98 * math.Sqrt(float64(len(list)))
	low, high := int(float64(len(list))/2-half), int(math.Ceil(float64(len(list))/2+half))-1
	return fmt.Sprintf("%.3f (%.3f to %.3f)", median(list), list[max(low, 0)], list[min(high, len(list)-1)])
}
