package front

import (
	"cmp"
	"fmt"
	"os"
	"testing"
	"time"
)

// never is when a client that has had no OK since the fault is given up.
const never = 15 * time.Second

// row is a client and what leads it to a redlockd.
type row struct {
	means  means
	client client
	// steps is whether the client makes a few calls and ends.
	steps bool
	worst map[string]verdict // by fault
}

// rows are what is measured. Options are of StackExchange.Redis's connection
// string.
func rows(t *testing.T) []*row {
	var all []*row
	for _, m := range []means{haproxy, envoy} {
		for _, c := range clients {
			all = append(all, &row{means: m, client: c})
		}
	}
	program := os.Getenv("FRONT_DOTNET")
	if program == "" {
		t.Log("StackExchange.Redis is left out: FRONT_DOTNET names no program (integration/front/doc.go)")
		return all
	}
	for _, m := range []means{list, haproxy} {
		for _, options := range []string{"", recipe} {
			name := "StackExchange.Redis 3, " + cmp.Or(map[string]string{recipe: "the recipe's options"}[options], "its defaults")
			all = append(all, &row{means: m, client: dotnet(name, program, "conditions", options), steps: true})
		}
	}
	return all
}

// recipe is that of docs/high-availability.md.
const recipe = ",connectTimeout=300,syncTimeout=500,asyncTimeout=500,keepAlive=1"

// TestFront measures each client with each fault, and writes the table.
func TestFront(t *testing.T) {
	needsFront(t)
	c := startCluster(t)
	measured := []*row{}
	for _, m := range []means{haproxy, envoy, list} {
		var addr string
		for _, r := range rows(t) {
			if r.means.name != m.name || !wanted(m.name+"/"+r.client.name) {
				continue
			}
			if addr == "" {
				addr = m.start(t, c)
			}
			r.worst = map[string]verdict{}
			for _, f := range faults {
				for n := range *rounds {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", m.name, r.client.name, f.name, n), func(t *testing.T) {
						r.add(f, c.measure(t, r, addr, f))
					})
				}
			}
			measured = append(measured, r)
		}
	}
	if *report != "" && *only == "" && !t.Failed() {
		writeTable(t, measured)
	}
}

// add keeps what was worst of each.
func (r *row) add(f fault, v verdict) {
	w := r.worst[f.name]
	w.gap, w.errors = max(w.gap, v.gap), max(w.errors, v.errors)
	w.never = w.never || v.never
	r.worst[f.name] = w
}

// measure lets one fault happen to the redlockd that the client uses.
func (c *cluster) measure(t *testing.T, r *row, addr string, f fault) verdict {
	c.t = t
	if r.means.name != list.name {
		waitLeadsTo(t, addr, c.redlockds[0])
	}
	if r.steps {
		c.away(50 * time.Millisecond)
		defer c.away(0)
	}
	prefix := fmt.Sprintf("front%d:", time.Now().UnixNano())
	served := c.served()
	client := r.client.start(t, addr, prefix)
	client.waitOK(1)
	other := contend(c.redlockds[2], prefix)
	client.waitOK(4)
	used := 0
	if r.means.name == list.name {
		used = mostServed(served, c.served())
	}
	began := time.Now()
	f.begin(c, used)
	client.watch(began, 2*time.Second, never)
	others := other.stop()
	client.stop()
	f.end(c, used)
	c.waitReady()
	v := judge(client.all(), others, began)
	t.Logf("%v without an OK, never=%v, %d errors %q", v.gap.Round(time.Millisecond), v.never, v.errors, v.said)
	if v.twice+v.lost > 0 {
		t.Errorf("%d locks held twice, %d held locks lost: %+v", v.twice, v.lost, client.all())
	}
	return v
}

// mostServed is the redlockd that has served most since.
func mostServed(before, after []int) int {
	most := 0
	for i := range after {
		if after[i]-before[i] > after[most]-before[most] {
			most = i
		}
	}
	return most
}

// TestMove: the files that are shipped move a session, with go-redis in the
// test itself.
func TestMove(t *testing.T) {
	needsFront(t)
	c := startCluster(t)
	for _, m := range []means{haproxy, envoy} {
		t.Run(m.name, func(t *testing.T) {
			c.t = t
			addr := m.start(t, c)
			waitLeadsTo(t, addr, c.redlockds[0])
			c.redlockds[0].Kill()
			waitLeadsTo(t, addr, c.redlockds[1])
			c.redlockds[0].Restart()
			c.waitReady()
			waitLeadsTo(t, addr, c.redlockds[0])
		})
	}
}
