package status

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/redlockd/redlockd/proxy"
)

// LockRow is one lock that somebody asked for: who has it, and who wants it. Times are in
// milliseconds.
type LockRow struct {
	DB    int    `json:"db"`
	Key   string `json:"key"`
	State string `json:"state"`
	Why   string `json:"why"`
	Left  int64  `json:"left"`
	// Holder is nil where this redlockd does not know it.
	Holder *HolderRow `json:"holder"`
	// Owner and Count are those that a lock in a hash names.
	Owner   string    `json:"owner,omitempty"`
	Count   string    `json:"count,omitempty"`
	Waiting []WaitRow `json:"waiting"`
	More    bool      `json:"more"`
}

// HolderRow is the client that has the lock.
type HolderRow struct {
	ClientRow
	Age   int64 `json:"age"`
	Taken bool  `json:"taken"`
}

// WaitRow is a client that wants the lock: it waits for a signal, or asked in vain.
type WaitRow struct {
	ClientRow
	Blocked bool  `json:"blocked"`
	Asked   int64 `json:"asked"`
}

// ClientRow is a client, as it was when it took the lock or asked for it.
type ClientRow struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	User    string `json:"user"`
}

// lock answers /lock?key=KEY&db=N. The masters are asked about this one lock, so that it does not
// matter how many there are.
func (p *Page) lock(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	key := query.Get("key")
	db, err := strconv.Atoi(query.Get("db"))
	if !query.Has("db") {
		db, err = 0, nil
	}
	if key == "" || err != nil {
		http.Error(w, "expected /lock?key=KEY&db=NUMBER", http.StatusBadRequest)
		return
	}
	l, err := p.clients.OneLock(r.Context(), db, key)
	switch {
	case errors.Is(err, proxy.ErrBusy):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		l = proxy.OneLock{State: "unknown", Why: err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(lockRow(db, key, l, time.Now()))) // who has gone does not read it
}

func lockRow(db int, key string, l proxy.OneLock, now time.Time) LockRow {
	row := LockRow{DB: db, Key: shown(key), State: l.State, Why: shownUpTo(maxReason, l.Why), Left: l.TTL.Milliseconds(), Owner: shown(l.Owner), Count: shown(l.Count), Waiting: []WaitRow{}, More: l.More}
	if h := l.Holder; h != nil {
		row.Holder = &HolderRow{ClientRow{shown(h.Name), h.Address, shown(h.User)}, max(0, now.Sub(h.Since).Milliseconds()), h.Taken}
	}
	for _, c := range l.Waiting {
		row.Waiting = append(row.Waiting, WaitRow{ClientRow{shown(c.Name), c.Address, shown(c.User)}, c.Blocked, max(0, now.Sub(c.Asked).Milliseconds())})
	}
	return row
}
