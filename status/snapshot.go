package status

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

const (
	// maxRows bounds each table of the page.
	maxRows = 12
	// maxEvents bounds the list of what happened lately.
	maxEvents = 40
	// maxText bounds a text that a client chose.
	maxText = 120
)

// Snapshot is what the page shows. Times are in milliseconds where nothing
// else is said.
type Snapshot struct {
	Now        int64        `json:"now"`
	Up         int64        `json:"up"`
	Ready      bool         `json:"ready"`
	Voting     int          `json:"voting"`
	Quorum     int          `json:"quorum"`
	Generation int          `json:"generation"`
	Phase      string       `json:"phase"`
	Masters    []MasterRow  `json:"masters"`
	Rates      Rates        `json:"rates"`
	Acquire    Latency      `json:"acquire"`
	UnderWay   int          `json:"under_way"`
	Waiting    int          `json:"waiting"`
	Blocked    int          `json:"blocked"`
	Held       int          `json:"held"`
	Longest    []HeldRow    `json:"longest"`
	Contended  []KeyRow     `json:"contended"`
	Sessions   int          `json:"sessions"`
	Latest     []SessionRow `json:"latest"`
	Events     []EventRow   `json:"events"`
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
	// of its own that were silent; -1 where there were none.
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
}

// KeyRow is a contended key.
type KeyRow struct {
	DB        int     `json:"db"`
	Key       string  `json:"key"`
	PerMinute float64 `json:"per_minute"`
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

// EventRow is a line of the log.
type EventRow struct {
	At     int64      `json:"at"`
	Level  string     `json:"level"`
	Text   string     `json:"text"`
	Fields []EventKey `json:"fields"`
}

// EventKey is a variable part of a line of the log.
type EventKey struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// snapshot is the state s and what the packages tell now.
func (p *Page) snapshot(s quorum.Status) Snapshot {
	now := time.Now()
	newest, before := p.since(1)
	_, earlier := p.since(lately)
	out := Snapshot{Now: now.UnixMilli(), Up: now.Sub(p.began).Milliseconds(), Ready: s.Ready, Voting: s.Voting, Quorum: s.Quorum,
		Generation: s.Generation, Phase: s.Phase, Rates: ratesOf(newest, before), Acquire: latency(newest.acquires, earlier.acquires),
		UnderWay: s.UnderWay, Waiting: s.Waiting, Blocked: p.clients.Blocked(), Masters: masterRows(s.Masters, earlier.masters),
		Events:  eventRows(p.log.Latest(maxEvents)),
		Longest: []HeldRow{}, Contended: []KeyRow{}, Latest: []SessionRow{}}
	var held []history.Held
	var sessions []proxy.Session
	out.Held, held = p.clients.Held(maxRows)
	for _, h := range held {
		out.Longest = append(out.Longest, HeldRow{DB: h.DB, Key: shown(h.Key), Name: shown(h.Name), Address: h.Address, User: shown(h.User),
			Age: now.Sub(h.Since).Milliseconds(), Left: max(0, h.Until.Sub(now).Milliseconds()), Taken: h.Taken})
	}
	for _, c := range p.clients.Contended(maxRows) {
		out.Contended = append(out.Contended, KeyRow{DB: c.DB, Key: shown(c.Key), PerMinute: c.PerMinute})
	}
	out.Sessions, sessions = p.clients.Sessions(maxRows)
	for _, c := range sessions {
		out.Latest = append(out.Latest, SessionRow{Name: shown(c.Name), Address: c.Address, User: shown(c.User), Library: shown(c.Library),
			Command: shown(c.Command), Age: c.Age.Milliseconds(), Idle: c.Idle.Milliseconds(), Waiting: c.Waiting, Blocked: c.Blocked})
	}
	return out
}

// eventRows are lines of the log, for people.
func eventRows(lines []journal.Line) []EventRow {
	rows := make([]EventRow, len(lines))
	for i, line := range lines {
		rows[i] = EventRow{At: line.Time.UnixMilli(), Level: line.Level, Text: line.Text, Fields: make([]EventKey, len(line.Fields))}
		for k, f := range line.Fields {
			rows[i].Fields[k] = EventKey{Key: f.Key, Value: shown(f.Value)}
		}
	}
	return rows
}

// masterRows compares the masters with how they were earlier.
func masterRows(masters []quorum.MasterStatus, earlier map[string]quorum.MasterStatus) []MasterRow {
	rows := make([]MasterRow, len(masters))
	counted := make([]uint64, len(masters))
	all := uint64(0)
	for i, m := range masters {
		e := earlier[m.Name]
		counted[i] = more(m.Votes.Counted, e.Votes.Counted)
		all += counted[i]
		rows[i] = MasterRow{Name: m.Name, Address: m.Address, State: string(m.State), Reason: shown(m.Reason), Required: m.Required,
			Wait: m.Wait.Milliseconds(), Version: m.Version, Latency: latency(m.Batches, e.Batches), Share: -1, Silent: -1}
		silent := more(m.Votes.Silent, e.Votes.Silent)
		if votes := counted[i] + silent + more(m.Votes.Spare, e.Votes.Spare); votes > 0 {
			rows[i].Silent = float64(silent) / float64(votes)
		}
	}
	for i := range rows {
		if all > 0 {
			rows[i].Share = float64(counted[i]) / float64(all)
		}
	}
	return rows
}

// more is by how much a counter grew; a master that was replaced begins anew.
func more(now, before uint64) uint64 { return max(now, before) - before }

func latency(newest, before quorum.Histogram) Latency {
	return Latency{P50: quantile(0.5, newest, before), P99: quantile(0.99, newest, before)}
}

// shown is a text that a client chose, for people: short, and quoted where it
// could look like something else, as control characters and those that turn
// the direction of writing do.
func shown(text string) string {
	if len(text) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
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
