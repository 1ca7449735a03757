package status

import (
	"encoding/json"
	"time"

	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// maxRows bounds each table of the page.
const maxRows = 12

// Snapshot is what the page shows. Times are in milliseconds where nothing
// else is said.
type Snapshot struct {
	Now   int64 `json:"now"`
	Up    int64 `json:"up"`
	Ready bool  `json:"ready"`
	// Dev is whether the masters are in memory (-dev).
	Dev bool `json:"dev"`
	// Outlook is nil while locks can be taken.
	Outlook    *Outlook    `json:"outlook"`
	Voting     int         `json:"voting"`
	Quorum     int         `json:"quorum"`
	Generation int         `json:"generation"`
	Phase      string      `json:"phase"`
	Masters    []MasterRow `json:"masters"`
	// Rates are of the last second, for the chart, Recent and Acquire of the last ten.
	Rates     Rates        `json:"rates"`
	Recent    Rates        `json:"recent"`
	Acquire   Latency      `json:"acquire"`
	UnderWay  int          `json:"under_way"`
	Waiting   int          `json:"waiting"`
	Blocked   int          `json:"blocked"`
	Held      int          `json:"held"`
	Longest   []HeldRow    `json:"longest"`
	Contended []KeyRow     `json:"contended"`
	Times     []TimesRow   `json:"times"`
	Sessions  int          `json:"sessions"`
	Latest    []SessionRow `json:"latest"`
	Events    []EventRow   `json:"events"`
}

// Latency is told in microseconds, -1 where nothing was measured lately.
type Latency struct {
	P50 int64 `json:"p50"`
	P99 int64 `json:"p99"`
}

// MasterRow is one master.
type MasterRow struct {
	Name     string  `json:"name"`
	Address  string  `json:"address"`
	State    string  `json:"state"`
	Reason   string  `json:"reason"`
	Required bool    `json:"required"`
	Wait     int64   `json:"wait"`
	Version  string  `json:"version"`
	Latency  Latency `json:"latency"`
	// Share is its part of all votes that were counted lately, Silent the part
	// of its own that were silent; -1 where there were none. One that is down or
	// frozen has no share and no latency now, whatever it had a moment ago.
	Share  float64 `json:"share"`
	Silent float64 `json:"silent"`
}

// HeldRow is a lock and its holder.
type HeldRow struct {
	DB      int    `json:"db"`
	Key     string `json:"key"`
	Name    string `json:"name"`
	Address string `json:"address"`
	User    string `json:"user"`
	Age     int64  `json:"age"`
	Left    int64  `json:"left"`
	Taken   bool   `json:"taken"`
	// Exact is whether Key is the whole key as it is, so that one can ask for it.
	Exact bool `json:"exact"`
}

// KeyRow is a contended key.
type KeyRow struct {
	DB        int     `json:"db"`
	Key       string  `json:"key"`
	PerMinute float64 `json:"per_minute"`
	// Name and Address are the holder's, empty where it is not known.
	Name    string `json:"name"`
	Address string `json:"address"`
	Exact   bool   `json:"exact"`
}

// TimesRow is how long the locks of a pattern were waited for and held since the start: how often,
// and in milliseconds, -1 where none was.
type TimesRow struct {
	Pattern string `json:"pattern"`
	Waits   uint64 `json:"waits"`
	Wait50  int64  `json:"wait50"`
	Wait99  int64  `json:"wait99"`
	Holds   uint64 `json:"holds"`
	Hold50  int64  `json:"hold50"`
	Hold99  int64  `json:"hold99"`
}

// timesRows leaves out the patterns of which there is nothing to tell.
func timesRows(all []history.Times) []TimesRow {
	rows := []TimesRow{}
	for _, t := range all {
		if t.Waited.Count+t.Held.Count > 0 {
			w, h := t.Waited, t.Held
			rows = append(rows, TimesRow{t.Pattern, w.Count, millis(w, 0.5), millis(w, 0.99), h.Count, millis(h, 0.5), millis(h, 0.99)})
		}
	}
	return rows
}

func millis(h history.Histogram, part float64) int64 {
	if q := h.Quantile(part); q >= 0 {
		return q.Milliseconds()
	}
	return -1
}

// SessionRow is a client connection.
type SessionRow struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	User    string `json:"user"`
	Library string `json:"library"`
	Command string `json:"command"`
	Age     int64  `json:"age"`
	Idle    int64  `json:"idle"`
	Waiting int    `json:"waiting"`
	Blocked bool   `json:"blocked"`
}

// snapshot is the state s and what the packages tell now.
func (p *Page) snapshot(s quorum.Status) Snapshot {
	now := time.Now()
	newest, before := p.since(1)
	_, earlier := p.since(lately)
	out := Snapshot{Now: now.UnixMilli(), Up: now.Sub(p.began).Milliseconds(), Ready: s.Ready, Voting: s.Voting, Quorum: s.Quorum,
		Dev: s.Embedded, Outlook: outlook(s), Recent: ratesOf(newest, earlier),
		Generation: s.Generation, Phase: s.Phase, Rates: ratesOf(newest, before), Acquire: latency(newest.acquires, earlier.acquires),
		UnderWay: s.UnderWay, Waiting: s.Waiting, Blocked: p.clients.Blocked(), Masters: masterRows(s.Masters, earlier.masters),
		Events:  eventRows(p.log.Latest(maxEvents)),
		Times:   timesRows(p.clients.Times()),
		Longest: []HeldRow{}, Contended: []KeyRow{}, Latest: []SessionRow{}}
	var held []history.Held
	var sessions []proxy.Session
	out.Held, held = p.clients.Held(maxRows)
	for _, h := range held {
		out.Longest = append(out.Longest, HeldRow{DB: h.DB, Key: shown(h.Key), Name: shown(h.Name), Address: h.Address, User: shown(h.User),
			Age: now.Sub(h.Since).Milliseconds(), Left: max(0, h.Until.Sub(now).Milliseconds()), Taken: h.Taken, Exact: exact(h.Key)})
	}
	for _, c := range p.clients.Contended(maxRows) {
		row := KeyRow{DB: c.DB, Key: shown(c.Key), PerMinute: c.PerMinute, Exact: exact(c.Key)}
		if c.Holder != nil {
			row.Name, row.Address = shown(c.Holder.Name), c.Holder.Address
		}
		out.Contended = append(out.Contended, row)
	}
	out.Sessions, sessions = p.clients.Sessions(maxRows)
	for _, c := range sessions {
		out.Latest = append(out.Latest, SessionRow{Name: shown(c.Name), Address: c.Address, User: shown(c.User), Library: shown(c.Library),
			Command: shown(c.Command), Age: c.Age.Milliseconds(), Idle: c.Idle.Milliseconds(), Waiting: c.Waiting, Blocked: c.Blocked})
	}
	return out
}

// hello is the first event: the chart so far, the newest snapshot, and what
// does not change.
func (p *Page) hello() []byte {
	return encode(struct {
		History  []Rates  `json:"history"`
		Facts    []Fact   `json:"facts"`
		Snapshot Snapshot `json:"snapshot"`
	}{p.rates(), p.facts, p.snapshot(p.masters.Status())})
}

// encode has no line breaks, which would end an event's line.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of it is of this package
	}
	return data
}
