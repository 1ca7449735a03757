package quorum

import (
	"fmt"
	"testing"
	"time"
)

// TestM3OperationBesideALook checks that what is asked at the very moment of a look which
// writes the mark is decided, where every master that is left is needed (why 126).
func TestM3OperationBesideALook(t *testing.T) {
	looks := 1000 // which goroutine comes first is chance
	if raceEnabled {
		looks = 300
	}
	inBubble(t, 3, func(c *testCluster) {
		c.masters[2].kill()
		time.Sleep(5 * time.Second)
		link := c.q.cluster.Opened(0).List().Links[0]
		for range looks {
			_, sent := link.LookedAt()
			time.Sleep(sent + time.Second - c.q.now())
			var outcomes []<-chan *Outcome
			for i := range 20 {
				outcomes = append(outcomes, start(c.q, acquire(fmt.Sprint("k", i), "t", 100*time.Millisecond)))
			}
			for _, o := range outcomes {
				c.want(<-o, Won)
			}
		}
	})
}
