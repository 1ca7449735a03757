package front

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// contender wants a client's locks through a redlockd that no fault befalls.
type contender struct {
	calls []call
	over  chan struct{}
	done  sync.WaitGroup
}

func contend(r *rig.Redlockd, prefix string) *contender {
	c := &contender{over: make(chan struct{})}
	c.done.Go(func() { c.run(r, prefix) })
	return c
}

// run takes the lock that all want, keeps it for 3 ms, and leaves it alone for
// 20 ms. It must never get the one that the client holds.
func (c *contender) run(r *rig.Redlockd, prefix string) {
	there := r.Client()
	ctx := context.Background()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-c.over:
			return
		case <-tick.C:
		}
		token := fmt.Sprintf("contender-%d", i)
		c.call("hold", func() (bool, error) { return there.SetNX(ctx, prefix+"held", token, time.Second).Result() })
		if c.call("take", func() (bool, error) { return there.SetNX(ctx, prefix+"wanted", token, wantedTTL).Result() }) {
			time.Sleep(3 * time.Millisecond) // its critical section
			c.call("release", func() (bool, error) {
				return there.Eval(ctx, rig.ReleaseScript, []string{prefix + "wanted"}, token).Bool()
			})
		}
	}
}

func (c *contender) call(kind string, do func() (bool, error)) bool {
	made := call{kind: kind, sent: time.Now()}
	ok, err := do()
	made.answered, made.ok = time.Now(), ok
	if err != nil {
		made.err = err.Error()
	}
	c.calls = append(c.calls, made)
	return made.ok
}

// stop returns its calls.
func (c *contender) stop() []call {
	close(c.over)
	c.done.Wait()
	return c.calls
}
