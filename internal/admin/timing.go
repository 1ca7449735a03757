package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/redlockd/redlockd/quorum"
)

var (
	operationDesc = desc("operation_duration_seconds", "Time from a command's arrival to the outcome of its operation, waiting for others on the key included, by operation. Only those that were decided count.", "operation")
	batchDesc     = desc("master_batch_duration_seconds", "Time from sending a master a batch of operations to its answer.", "master")
	votesDesc     = desc("master_votes_total", "A master's votes: counted in the verdict, spare because it had fallen before, or silent.", "master", "vote")
	underWayDesc  = desc("operations_under_way", "Operations that were not told their outcome yet.")
	waitingDesc   = desc("operations_waiting", "Operations that wait for others on their key.")
	blockedDesc   = desc("blocked_sessions", "Client connections that wait in BLPOP or BRPOP for a lock to be free.")
	heldDesc      = desc("held_locks", "Locks that this redlockd gave and whose TTL is not over, at most as many as it remembers.")
)

// timingDescs are the metrics that collectTiming sends.
var timingDescs = []*prometheus.Desc{operationDesc, batchDesc, votesDesc, underWayDesc, waitingDesc, blockedDesc, heldDesc}

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
	held, _ := m.from.Sessions.Held(0)
	for d, v := range map[*prometheus.Desc]int{underWayDesc: s.UnderWay, waitingDesc: s.Waiting,
		blockedDesc: m.from.Sessions.Blocked(), heldDesc: held} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
}

// histogramMetric returns a histogram with Prometheus's cumulative buckets.
func histogramMetric(d *prometheus.Desc, h quorum.Histogram, label string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(h.Counts))
	sum := uint64(0)
	for i, n := range h.Counts {
		sum += n
		buckets[quorum.BucketBound(i).Seconds()] = sum
	}
	return prometheus.MustNewConstHistogram(d, h.Count, h.Sum.Seconds(), buckets, label)
}
