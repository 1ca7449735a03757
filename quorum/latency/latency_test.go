package latency

import (
	"testing"
	"time"
)

func TestHistogramBounds(t *testing.T) {
	for i := range buckets {
		bound := BucketBound(i)
		var at, above Recorder
		at.Add(bound)
		above.Add(bound + time.Nanosecond)
		if at.Read().Counts[i] != 1 || above.Read().Counts[i] != 0 {
			t.Errorf("%v is not the bound of bucket %d", bound, i)
		}
	}
	var h Recorder
	for _, d := range []time.Duration{-time.Second, 0, time.Hour} {
		h.Add(d)
	}
	if got := h.Read(); got.Counts[0] != 2 || got.Count != 3 || got.Sum != time.Hour {
		t.Errorf("%+v", got)
	}
}
