package status

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// maxOnlookers bounds who may look at a time.
	maxOnlookers = 16
	// readTime is how long an onlooker may take to read one event; whoever
	// takes longer is dropped, and the browser connects again.
	readTime = 5 * time.Second
)

// onlooker is one stream of events. next has room for one: who reads slowly
// misses samples.
type onlooker struct{ next chan []byte }

// events streams the samples: first those of the last minutes, then each new
// one.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	o := p.enter()
	if o == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many look at this page", http.StatusServiceUnavailable)
		return
	}
	defer p.leave(o)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	event, data := "hello", p.hello()
	for {
		// Each event has a time of its own, since a stream has no end.
		if out.SetWriteDeadline(time.Now().Add(readTime)) != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil || out.Flush() != nil {
			return
		}
		event = "sample"
		select {
		case data = <-o.next:
		case <-r.Context().Done():
			return
		case <-p.stop:
			return
		}
	}
}

// enter is nil where too many look already.
func (p *Page) enter() *onlooker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.looking) >= maxOnlookers {
		return nil
	}
	o := &onlooker{next: make(chan []byte, 1)}
	p.looking[o] = struct{}{}
	return o
}

func (p *Page) leave(o *onlooker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looking, o)
}

// send gives all who look an event, in place of one they have not taken.
func (p *Page) send(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for o := range p.looking {
		select {
		case <-o.next:
		default:
		}
		o.next <- data // only send puts something there, under the mutex
	}
}

func (p *Page) watched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.looking) > 0
}
