package status

import (
	"time"

	"github.com/redlockd/redlockd/quorum"
)

const (
	// keptSamples are those of the chart: five minutes.
	keptSamples = 300
	// lately is how many samples latencies and shares are told of.
	lately = 10
)

// sample is what was counted up to a moment. What is told are differences of
// two of them.
type sample struct {
	at       time.Time
	counters quorum.Counters
	acquires quorum.Histogram
	masters  map[string]quorum.MasterStatus
}

// Rates are what happened in a second.
type Rates struct {
	// At is in milliseconds since 1970.
	At        int64   `json:"at"`
	Won       float64 `json:"won"`
	Held      float64 `json:"held"`
	Split     float64 `json:"split"`
	Undecided float64 `json:"undecided"`
}

// sample takes one, and tells those who look.
func (p *Page) sample(now time.Time) {
	s := p.masters.Status()
	taken := sample{at: now, counters: s.Counters, acquires: s.Timings["acquire"], masters: make(map[string]quorum.MasterStatus)}
	for _, m := range s.Masters {
		taken.masters[m.Name] = m
	}
	p.mu.Lock()
	p.samples = append(p.samples, taken)
	if len(p.samples) > keptSamples+1 {
		// Into a new array now and then, so that the old ones can go.
		p.samples = append(make([]sample, 0, 2*keptSamples), p.samples[len(p.samples)-keptSamples-1:]...)
	}
	p.mu.Unlock()
	if p.watched() {
		p.send(encode(p.snapshot(s)))
	}
}

// since are the newest sample and one that is ago samples older, or the oldest
// there is.
func (p *Page) since(ago int) (newest, before sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.samples)
	return p.samples[n-1], p.samples[max(0, n-1-ago)]
}

// rates are those between each two neighbouring samples, the oldest first.
func (p *Page) rates() []Rates {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]Rates, 0, keptSamples)
	first := max(1, len(p.samples)-keptSamples)
	for i := first; i < len(p.samples); i++ {
		list = append(list, ratesOf(p.samples[i], p.samples[i-1]))
	}
	return list
}

func ratesOf(newest, before sample) Rates {
	seconds := newest.at.Sub(before.at).Seconds()
	each := func(a, b uint64) float64 {
		if seconds <= 0 || a < b {
			return 0
		}
		return float64(a-b) / seconds
	}
	a, b := newest.counters, before.counters
	return Rates{At: newest.at.UnixMilli(), Won: each(a.Won, b.Won), Held: each(a.Held, b.Held),
		Split: each(a.Split, b.Split), Undecided: each(a.Undecided, b.Undecided)}
}

// quantile is by which time a part of what came between two histograms was
// done, in microseconds; -1 where nothing came. Inside a bucket it is as if
// spread evenly.
func quantile(part float64, newest, before quorum.Histogram) int64 {
	if newest.Count <= before.Count {
		return -1
	}
	want, sum := part*float64(newest.Count-before.Count), 0.0
	lower := time.Duration(0)
	for i := range newest.Counts {
		n, upper := float64(newest.Counts[i]-before.Counts[i]), quorum.BucketBound(i)
		if n > 0 && sum+n >= want {
			return (lower + time.Duration((want-sum)/n*float64(upper-lower))).Microseconds()
		}
		sum, lower = sum+n, upper
	}
	return lower.Microseconds()
}
