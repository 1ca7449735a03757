package status

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
)

// TestLock: one lock, its holder and who wants it; and what cannot be asked.
func TestLock(t *testing.T) {
	now := time.Now()
	r := twoMasters()
	r.locks = map[string]proxy.OneLock{"orders:7 #1": {State: "held", TTL: 20 * time.Second, More: true, Owner: "uuid:1", Count: "2",
		Holder: &proxy.Holding{Holder: history.Holder{Name: "billing", Address: "10.0.0.1:5", User: "default"}, Since: now.Add(-time.Minute), Taken: true},
		Waiting: []proxy.Waiting{
			{Holder: history.Holder{Name: "a\u202eb", Address: "10.0.0.2:5"}, Blocked: true},
			{Holder: history.Holder{Name: "mail", Address: "10.0.0.3:5"}, Asked: now.Add(-3 * time.Second)},
		}}}
	p := New(r, r, journal.New(), nil)
	defer p.Stop()
	ask := func(query string) (int, string) {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", "/lock"+query, nil))
		return w.Code, w.Body.String()
	}
	code, body := ask("?db=0&key=orders:7+%231")
	var l LockRow
	if err := json.Unmarshal([]byte(body), &l); code != 200 || err != nil {
		t.Fatalf("%d, %v: %s", code, err, body)
	}
	if l.Key != "orders:7 #1" || l.State != "held" || l.Left != 20_000 || l.Holder.Name != "billing" || l.Holder.Age < 60_000 || !l.Holder.Taken || !l.More || l.Owner != "uuid:1" || l.Count != "2" {
		t.Errorf("%+v, %+v", l, l.Holder)
	}
	if w := l.Waiting; len(w) != 2 || w[0].Name != `"a\u202eb"` || !w[0].Blocked || w[1].Name != "mail" || w[1].Asked < 3000 || w[1].Asked > 30_000 {
		t.Errorf("%+v", l.Waiting)
	}
	for query, want := range map[string]string{
		"?key=other":      `"state":"free","why":"","left":0,"holder":null,"waiting":[]`,
		"?key=other&db=3": `"state":"unknown","why":"no client of this redlockd has used this database"`,
	} {
		if code, body := ask(query); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", query, code, body, want)
		}
	}
	for query, want := range map[string]int{"": 400, "?key=": 400, "?key=k&db=x": 400, "?key=k&db=": 400, "?key=busy": 503} {
		if code, body := ask(query); code != want {
			t.Errorf("%s: %d %s, want %d", query, code, body, want)
		}
	}
}
