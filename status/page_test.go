package status

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// packages are masters and clients that stand still, unless a test moves them.
type fixed struct {
	mu        sync.Mutex
	status    quorum.Status
	held      []history.Held
	contended []history.Contended
	sessions  []proxy.Session
	locks     map[string]proxy.OneLock
}

func (r *fixed) Held(int) (int, []history.Held) { return len(r.held), r.held }
func (r *fixed) Times() []history.Times {
	times := history.Histogram{Counts: make([]uint64, len(history.Bounds)), Count: 3, Sum: 9 * time.Hour}
	times.Counts[5] = 2
	return []history.Times{{Pattern: "orders:*", Waited: times, Held: times}, {Pattern: history.Others}}
}
func (r *fixed) Contended(int) []history.Contended   { return r.contended }
func (r *fixed) Sessions(int) (int, []proxy.Session) { return len(r.sessions), r.sessions }
func (r *fixed) Blocked() int                        { return 0 }

func (r *fixed) OneLock(_ context.Context, db int, key string) (proxy.OneLock, error) {
	switch l, ok := r.locks[key]; {
	case key == "busy":
		return l, proxy.ErrBusy
	case db != 0:
		return l, proxy.ErrUnopened
	case !ok:
		return proxy.OneLock{State: "free"}, nil
	default:
		return l, nil
	}
}

func (r *fixed) Status() quorum.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func twoMasters() *fixed {
	return &fixed{status: quorum.Status{Ready: true, Quorum: 2, Voting: 1, Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting}, {Name: "b", State: quorum.Quarantine, Wait: 90 * time.Second},
	}}}
}

func TestFilesAndTheirHeaders(t *testing.T) {
	p := New(twoMasters(), twoMasters(), journal.New(), nil)
	defer p.Stop()
	for path, want := range map[string]string{"/": "<title>redlockd</title>", "/status.css": "body {", "/status.js": "EventSource", "/find.js": "fetch("} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		h := w.Header()
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d, without %q", path, w.Code, want)
		}
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, h)
		}
		for _, outside := range []string{"http:", "https:", "//cdn", "innerHTML", "insertAdjacent", "document.write", "eval("} {
			if strings.Contains(strings.NewReplacer(SVGName, "", manual, "").Replace(w.Body.String()), outside) {
				t.Errorf("%s has %q", path, outside)
			}
		}
	}
	for path, want := range map[string]int{"/page/index.html": 404, "/x": 404} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	if p.ServeHTTP(w, httptest.NewRequest("POST", "/", nil)); w.Code != 405 {
		t.Errorf("POST: %d", w.Code)
	}
}

// SVGName is a name and no address.
const SVGName = "http://www.w3.org/2000/svg"

// manual is a link, of which nothing is loaded unless somebody follows it.
const manual = `<a href="https://github.com/redlockd/redlockd/blob/main/docs/operations.md#after-a-lost-majority" rel="noreferrer">`

// stream reads the events of a page.
type stream struct {
	t *testing.T
	r *bufio.Reader
	*http.Response
}

func look(t *testing.T, client *http.Client, url string) *stream {
	t.Helper()
	response, err := client.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return &stream{t, bufio.NewReader(response.Body), response}
}

// next is the next event and its data.
func (s *stream) next() (event, data string) {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%q, %v", line, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			event = value
		case "data":
			data = value
		case "":
			return event, data
		}
	}
}

func TestEvents(t *testing.T) { synctest.Test(t, events) }

func events(t *testing.T) {
	r := twoMasters()
	now := time.Now()
	r.held = []history.Held{{DB: 1, Key: "locks:a\n\u202eevil", Session: 7, Name: "worker", Address: "10.0.0.1:5", User: "default",
		Since: now.Add(-time.Minute), Until: now.Add(time.Minute), Taken: true}}
	r.contended = []history.Contended{{Key: strings.Repeat("x", 500), PerMinute: 12}}
	r.sessions = []proxy.Session{{ID: 7, Name: "worker", Address: "10.0.0.1:5", Command: "set"}}
	lately := journal.New()
	lately.Accept("", hclog.Warn, "master is down", "reason", "x\u202ey")
	p := New(r, r, lately, []Fact{{"version", "1.2.3"}})
	defer p.Stop()
	// Limits of a request do not end a stream.
	ln := serve(t, p, &http.Server{ReadTimeout: 200 * time.Millisecond, WriteTimeout: 500 * time.Millisecond})
	s := ln.look(t)
	if got := s.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %q", got)
	}
	event, data := s.next()
	var hello struct {
		Facts    []Fact
		Snapshot Snapshot
	}
	if err := json.Unmarshal([]byte(data), &hello); err != nil || event != "hello" {
		t.Fatalf("%s: %v", event, err)
	}
	snap := hello.Snapshot
	if len(hello.Facts) != 1 || len(snap.Masters) != 2 || snap.Masters[1].Wait != 90_000 || snap.Masters[0].Share != -1 {
		t.Errorf("%+v", hello)
	}
	l := snap.Longest[0]
	if l.Key != `"locks:a\n\u202eevil"` || l.Age < 59_000 || l.Left > 61_000 || l.Name != "worker" || snap.Held != 1 {
		t.Errorf("%+v", l)
	}
	e := snap.Events[0]
	if e.At != now.UnixMilli() || e.Level != "warn" || e.Text != "master is down" || e.Fields[0] != (EventKey{"reason", `"x\u202ey"`}) {
		t.Errorf("%+v", snap.Events)
	}
	// The pattern of which there is nothing to tell is left out.
	if len(snap.Times) != 1 || snap.Times[0] != (TimesRow{"orders:*", 3, 875, 14_400_000, 3, 875, 14_400_000}) {
		t.Errorf("times are %+v", snap.Times)
	}
	if n := len(snap.Contended[0].Key); n > maxText+len("…") {
		t.Errorf("a key of %d bytes", n)
	}
	for range 10 {
		if event, data = s.next(); event != "sample" || !strings.Contains(data, `"voting":1`) {
			t.Errorf("%s: %s", event, data)
		}
	}
	if took := time.Since(now); took != 10*time.Second {
		t.Errorf("ten samples took %v", took)
	}
	// When the page stops, so do the streams.
	p.Stop()
	if _, err := s.r.ReadString('!'); err == nil {
		t.Error("the stream goes on")
	}
}

func TestOnlookersAreFew(t *testing.T) {
	p := New(twoMasters(), twoMasters(), journal.New(), nil)
	defer p.Stop()
	server := httptest.NewServer(p)
	// The streams first, for which the server waits.
	defer func() { p.Stop(); server.Close() }()
	var open []*stream
	for range maxOnlookers {
		s := look(t, http.DefaultClient, server.URL)
		s.next()
		open = append(open, s)
	}
	if s := look(t, http.DefaultClient, server.URL); s.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", s.StatusCode)
	}
	open[0].Body.Close()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if s := look(t, http.DefaultClient, server.URL); s.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a place that is free again is not given again")
		}
	}
}

// TestSlowReaderIsDropped: one that never reads costs a few buffers and its
// place, for readTime.
func TestSlowReaderIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := twoMasters()
		for range maxRows {
			r.held = append(r.held, history.Held{Key: strings.Repeat("k", maxText), Name: strings.Repeat("n", maxText)})
		}
		p := New(r, r, journal.New(), nil)
		c := serve(t, p, &http.Server{}).dial(t)
		if _, err := c.Write([]byte("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(readTime - time.Nanosecond)
		synctest.Wait()
		if !p.watched() {
			t.Error("it is gone before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if p.watched() {
			t.Error("it is still there")
		}
	})
}

// TestSamplesAreKept: five minutes of rates, and no more.
func TestSamplesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := twoMasters()
		p := New(r, r, journal.New(), nil)
		defer p.Stop()
		for i := range 2 * keptSamples {
			time.Sleep(time.Second)
			synctest.Wait()
			r.mu.Lock()
			r.status.Counters.Won += uint64(i)
			r.mu.Unlock()
		}
		rates := p.rates()
		if len(rates) != keptSamples || rates[1].At-rates[0].At != 1000 {
			t.Fatalf("%d rates, %d ms apart", len(rates), rates[1].At-rates[0].At)
		}
		if last := rates[keptSamples-1].Won; last != 2*keptSamples-2 {
			t.Errorf("won %v in the last second", last)
		}
		p.Stop()
		if n := len(p.samples); n > keptSamples+1 {
			t.Errorf("%d samples", n)
		}
	})
}

func TestShares(t *testing.T) {
	before := map[string]quorum.MasterStatus{"a": {Votes: quorum.Votes{Counted: 10}}, "b": {Votes: quorum.Votes{Counted: 50}}}
	rows := masterRows([]quorum.MasterStatus{
		{Name: "a", Votes: quorum.Votes{Counted: 40, Spare: 10}},
		{Name: "b", Votes: quorum.Votes{Counted: 60, Silent: 30}},
		{Name: "new"},
		{Name: "down", State: quorum.Down, Votes: quorum.Votes{Silent: 30}, Batches: quorum.Histogram{Counts: [19]uint64{1: 5}, Count: 5}},
	}, before)
	// What it had a moment ago is not what it has now.
	if rows[3].Share != -1 || rows[3].Silent != 1 || rows[3].Latency.P50 != -1 {
		t.Errorf("the one that is down: %+v", rows[3])
	}
	if rows[0].Share != 0.75 || rows[1].Share != 0.25 || rows[0].Silent != 0 || rows[1].Silent != 0.75 ||
		rows[2].Share != 0 || rows[2].Silent != -1 {
		t.Errorf("%+v", rows)
	}
}

func TestQuantile(t *testing.T) {
	var before, after quorum.Histogram
	before.Counts[1], before.Count = 100, 100
	after = before
	after.Counts[2] += 50 // 65 to 128 microseconds
	after.Counts[4] += 50 // 257 to 512
	after.Count += 100
	for part, want := range map[float64]int64{0.25: 96, 0.5: 128, 0.75: 384, 1: 512} {
		if got := quantile(part, after, before); got != want {
			t.Errorf("%v is %d, want %d", part, got, want)
		}
	}
	if got := quantile(0.5, before, before); got != -1 {
		t.Errorf("of nothing: %d", got)
	}
	after.Count += 1000 // longer than all bounds
	if got := quantile(0.9, after, before); got != quorum.BucketBound(18).Microseconds() {
		t.Errorf("beyond the bounds: %d", got)
	}
}
