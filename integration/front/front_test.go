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
	worst map[string]worst // by fault
}

// worst is what was worst in each of so many runs.
type worst struct {
	runs int
	verdict
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
		t.Log("SKIP StackExchange.Redis: FRONT_DOTNET names no program (integration/front/doc.go)")
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
const recipe = ",abortConnect=false,connectTimeout=500,syncTimeout=1000,asyncTimeout=1000,keepAlive=1"

// TestFront measures each client with each fault, and writes the table.
func TestFront(t *testing.T) {
	needsFront(t)
	c := startCluster(t)
	addrs := map[string]string{}
	all := rows(t)
	for _, r := range all {
		if !wanted(r.means.name + "/" + r.client.name) {
			continue
		}
		if addrs[r.means.name] == "" {
			addrs[r.means.name] = r.means.start(t, c)
		}
		for _, f := range faults {
			for n := range *rounds {
				t.Run(fmt.Sprintf("%s/%s/%s/%d", r.means.name, r.client.name, f.name, n), func(t *testing.T) {
					r.add(f, c.measure(t, r, addrs[r.means.name], f))
				})
			}
		}
	}
	if *report != "" && *only == "" {
		writeTable(t, all)
	}
}

// add keeps what was worst of each.
func (r *row) add(f fault, v verdict) {
	if r.worst == nil {
		r.worst = map[string]worst{}
	}
	w := r.worst[f.name]
	w.runs++
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
		c.away(20 * time.Millisecond)
		defer c.away(0)
	}
	prefix := fmt.Sprintf("front%d:", time.Now().UnixNano())
	served := c.served()
	client := r.client.start(t, addr, prefix)
	client.waitOK(1)
	if first := client.all()[0]; !first.ok {
		t.Fatalf("the first call: %s", first.err)
	}
	other := &contender{over: make(chan struct{})}
	if !r.steps {
		other = contend(c.redlockds[2], prefix)
	}
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
		t.Errorf("%d locks held twice, %d held locks lost", v.twice, v.lost)
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
