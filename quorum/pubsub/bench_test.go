package pubsub

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
)

// BenchmarkPublish is what a message costs a release, over five masters that cannot be
// reached: what gathers is encoded and dropped.
func BenchmarkPublish(b *testing.B) {
	bus := New(Config{Timeout: time.Second, RunID: func(string) string { return "" }, Log: hclog.NewNullLogger(), Now: clock.System()})
	defer bus.Close()
	var five []cluster.Master
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		five = append(five, cluster.Master{Name: name, Address: "127.0.0.1:1"})
	}
	bus.Follow(five)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		bus.Publish('p', "unlock:invoice:7", "1")
		if i%256 == 0 { // about as many as gather while many clients are busy
			bus.mu.Lock()
			bus.flush()
			bus.mu.Unlock()
		}
	}
}
