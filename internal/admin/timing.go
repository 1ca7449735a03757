package admin

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

var (
	operationDesc = desc("operation_duration_seconds", "Time from a command's arrival to the outcome of its operation, waiting for others on the key included, by operation. Only those that were decided count.", "operation")
	batchDesc     = desc("master_batch_duration_seconds", "Time from sending a master a batch of operations to its answer.", "master")
	votesDesc     = desc("master_votes_total", "A master's votes: counted in the verdict, spare because it had fallen before, or silent.", "master", "vote")
	underWayDesc  = desc("operations_under_way", "Operations that were not told their outcome yet.")
	waitingDesc   = desc("operations_waiting", "Operations that wait for others on their key.")
	blockedDesc   = desc("blocked_sessions", "Client connections that wait in BLPOP or BRPOP for a lock to be free.")
	waitedDesc    = desc("lock_wait_seconds", "Time from the first refusal of a lock to a client connection to its grant, by pattern of the key.", "pattern")
	holdDesc      = desc("lock_hold_seconds", "Time from the grant of a lock to its release, by pattern of the key.", "pattern")
	heldDesc      = desc("held_locks", "Locks that this redlockd gave and whose TTL is not over, at most as many as it remembers.")
)

// timingDescs are the metrics that collectTiming sends.
var timingDescs = []*prometheus.Desc{operationDesc, batchDesc, votesDesc, underWayDesc, waitingDesc, blockedDesc, waitedDesc, holdDesc, heldDesc}

// collectTiming sends how long things take, and what is under way.
func (m *metrics) collectTiming(out chan<- prometheus.Metric, s quorum.Status) {
	for operation, h := range s.Timings {
		out <- histogramMetric(operationDesc, h, operation)
	}
	for i := range s.Masters {
		master := &s.Masters[i]
		out <- histogramMetric(batchDesc, master.Batches, master.Name)
		for vote, n := range map[string]uint64{"counted": master.Votes.Counted, "spare": master.Votes.Spare, "silent": master.Votes.Silent} {
			out <- prometheus.MustNewConstMetric(votesDesc, prometheus.CounterValue, float64(n), master.Name, vote)
		}
	}
	for _, t := range m.from.Sessions.Times() {
		out <- timesMetric(waitedDesc, t.Waited, t.Pattern)
		out <- timesMetric(holdDesc, t.Held, t.Pattern)
	}
	held, _ := m.from.Sessions.Held(0)
	for d, v := range map[*prometheus.Desc]int{underWayDesc: s.UnderWay, waitingDesc: s.Waiting,
		blockedDesc: m.from.Sessions.Blocked(), heldDesc: held} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
}

// histogramMetric returns a histogram of what operations take.
func histogramMetric(d *prometheus.Desc, h quorum.Histogram, label string) prometheus.Metric {
	return cumulative(d, h.Counts[:], quorum.BucketBound, h.Count, h.Sum, label)
}

// timesMetric returns a histogram of how long locks are waited for or held.
func timesMetric(d *prometheus.Desc, h history.Histogram, label string) prometheus.Metric {
	return cumulative(d, h.Counts, func(i int) time.Duration { return history.Bounds[i] }, h.Count, h.Sum, label)
}

// cumulative returns a histogram with Prometheus's cumulative buckets.
func cumulative(d *prometheus.Desc, counts []uint64, bound func(int) time.Duration, all uint64, total time.Duration, label string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(counts))
	sum := uint64(0)
	for i, n := range counts {
		sum += n
		buckets[bound(i).Seconds()] = sum
	}
	return prometheus.MustNewConstHistogram(d, all, total.Seconds(), buckets, label)
}
