package main

import "runtime"

// limit works out what the machine allows a cycle at the least: each part's
// processor time as it was measured, beside the least that was seen for the
// same work without the others. It is nil where something was not measured.
func (b *bench) limit(through, direct string) [][]string {
	at := func(who, what string) (float64, bool) {
		condition := clientsText(128)
		if who == atBest {
			condition = "1 caller"
		}
		f := b.figure("a", condition, who, what)
		if f == nil {
			return 0, false
		}
		return f.Median(), true
	}
	var got [7]float64
	for i, want := range []struct{ who, what string }{
		{through, cpuMasters}, {through, cpuRedlockd}, {through, cpuClient},
		{direct, cpuMasters}, {direct, cpuClient}, {atBest, cpuMasters}, {direct, cpuAll},
	} {
		v, ok := at(want.who, want.what)
		if !ok {
			return nil
		}
		got[i] = v
	}
	masters, redlockd, client, oneRedis, itsClient, commands := got[0], got[1], got[2], got[3], got[4], got[5]
	all, best := masters+redlockd+client, 5*commands+(oneRedis-commands)+itsClient
	ceiling := func(micros float64) string { return number(float64(runtime.NumCPU()) * 1e6 / micros) }
	return [][]string{
		{"part", "µs a cycle", "at best", "which is"},
		{"five masters", number(masters), number(5 * commands), "five times one master's, in batches of 256"},
		{"redlockd", number(redlockd), number(oneRedis - commands), "what one Redis takes to read and answer, its commands apart"},
		{"client", number(client), number(itsClient), "what it takes against one Redis"},
		{"all", number(all), number(best), "one Redis and its client: " + number(got[6])},
		{"cycles/s, all cores busy", ceiling(all), ceiling(best), "one Redis and its client: " + ceiling(got[6])},
	}
}
