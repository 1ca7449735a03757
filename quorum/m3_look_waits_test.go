package quorum

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// TestM3LookWaitsForWhatABatchRead checks that a look which waits for the answer to a batch goes out
// when that is taken over, and not before: it may raise the beat, and the mark that the batch has
// read would count as one of an earlier time (M3, why 79). The clock stands still where the batch is
// taken over.
func TestM3LookWaitsForWhatABatchRead(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var halts atomic.Bool
		halted, goOn := make(chan struct{}), make(chan struct{})
		reads := clock.Monotonic()
		wire := &lookedAt{looks: make(chan struct{}, 1)}
		c.cfg.Masters[0].Dial = wire.over(c.masters[0])
		other := c.redlockdBy(func() time.Duration {
			if halts.CompareAndSwap(true, false) {
				close(halted)
				<-goOn
			}
			return reads()
		})
		time.Sleep(5 * time.Second)
		c.want(do(other, acquire("before", "t", 10*time.Second)), Won) // the marks bear this hold
		time.Sleep(clock.LookEvery / 2)

		c.masters[0].freeze()
		c.want(do(other, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(clock.LookEvery + 7*time.Millisecond) // no ticker reads the clock at that moment
		wire.forget()
		halts.Store(true)
		c.masters[0].thaw()
		<-halted
		quiet := make(chan struct{})
		go func() {
			synctest.Wait()
			close(quiet)
		}()
		select {
		case <-quiet:
		case <-wire.looks:
			t.Error("a look went out before what the batch has read was taken over")
			wire.looks <- struct{}{}
		}
		close(goOn)
		select {
		case <-wire.looks:
		case <-time.After(time.Millisecond):
			t.Error("no look was waiting")
		}
	})
}

// lookedAt is the way of one instance to a master. It tells when a look goes out.
type lookedAt struct {
	net.Conn
	looks chan struct{}
}

func (w *lookedAt) over(f *fakeMaster) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		conn, err := f.dial()
		return &lookedAt{conn, w.looks}, err
	}
}

func (w *lookedAt) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("INFO")) {
		w.forget()
		w.looks <- struct{}{}
	}
	return w.Conn.Write(b)
}

// forget drops what was told.
func (w *lookedAt) forget() {
	select {
	case <-w.looks:
	default:
	}
}
