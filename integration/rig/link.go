package rig

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Link is the network between redlockd and one master: it can be slow, hold
// back bytes, and be cut. Bytes keep their order. Its faults are made by one
// goroutine at a time.
type Link struct {
	Addr string

	tb    TB
	proxy *toxiproxy.Proxy
}

// NewLink forwards to an address until the test ends.
func NewLink(tb TB, to string) *Link {
	tb.Helper()
	// Its HTTP side, which is not started, wants to be there.
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{tb: tb}
	Eventually(tb, "a link listens", func() (bool, string) {
		l.Addr = FreeAddress(tb)
		l.proxy = toxiproxy.NewProxy(server, l.Addr, l.Addr, to)
		err := l.proxy.Start()
		return err == nil, fmt.Sprint(err)
	})
	tb.Cleanup(func() {
		l.proxy.Stop()
		l.Slow(0)
	})
	return l
}

// forever is a latency that nobody waits for.
const forever = time.Hour

// Slow makes every byte arrive this much later, each way; 0 ends it, and Stall.
func (l *Link) Slow(latency time.Duration) {
	l.tb.Helper()
	l.SlowTo(latency)
	l.SlowFrom(latency)
}

// SlowTo is Slow for what goes to the master only.
func (l *Link) SlowTo(latency time.Duration) { l.slow("upstream", latency) }

// SlowFrom is Slow for what comes from the master only.
func (l *Link) SlowFrom(latency time.Duration) { l.slow("downstream", latency) }

func (l *Link) slow(way string, latency time.Duration) {
	l.tb.Helper()
	// What it holds back goes on its way when it is removed.
	if l.proxy.Toxics.GetToxic(way) != nil {
		if err := l.proxy.Toxics.RemoveToxic(context.Background(), way); err != nil {
			l.tb.Errorf("link %s: %v", l.Addr, err)
		}
	}
	if latency == 0 {
		return
	}
	toxic := fmt.Sprintf(`{"name": %q, "type": "latency", "stream": %q, "attributes": {"latency": %d}}`,
		way, way, latency.Milliseconds())
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		l.tb.Errorf("link %s: %v", l.Addr, err)
	}
}

// Stall keeps all bytes on their way, until Slow.
func (l *Link) Stall() { l.Slow(forever) }

// Cut closes all connections and refuses new ones, until Mend.
func (l *Link) Cut() { l.proxy.Stop() }

// Mend ends Cut.
func (l *Link) Mend() {
	l.tb.Helper()
	Eventually(l.tb, "mending the link "+l.Addr, func() (bool, string) {
		err := l.proxy.Start()
		return err == nil || err == toxiproxy.ErrProxyAlreadyStarted, fmt.Sprint(err)
	})
}

// Reroute lets new connections go to another address, and closes those of now:
// what a later Link keeps of them is still on its way.
func (l *Link) Reroute(to string) {
	l.tb.Helper()
	Eventually(l.tb, "rerouting the link "+l.Addr, func() (bool, string) {
		err := l.proxy.Update(&toxiproxy.Proxy{Listen: l.Addr, Upstream: to, Enabled: true})
		return err == nil, fmt.Sprint(err)
	})
}

// Drop closes all connections; new ones are let through.
func (l *Link) Drop() {
	l.tb.Helper()
	l.Cut()
	l.Mend()
}
