package front

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// never is when a client that has had no OK since the fault is given up.
const never = 15 * time.Second

// row is a client and what leads it to a redlockd.
type row struct {
	means  means
	client client
	// stepping is a client that makes a few calls and ends, in place of the one
	// that goes on.
	stepping *client
	worst    map[string]worst // by fault
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
			stepping := dotnet(name, program, "conditions", options)
			all = append(all, &row{means: m, client: dotnet(name, program, "medallion", options), stepping: &stepping})
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
	if r.means.name != list.name {
		waitLeadsTo(t, addr, c.redlockds[0])
	}
	served := c.served()
	var v verdict
	switch {
	case r.stepping == nil:
		v = c.calling(t, r, addr, f)
	case f.name == cutOff:
		v = c.holding(t, r, addr, f, served)
	default:
		v = c.stepping(t, r, addr, f, served)
	}
	c.waitWell()
	t.Logf("%v without an OK, never=%v, %d errors %q", v.gap.Round(time.Millisecond), v.never, v.errors, v.said)
	if v.twice+v.lost > 0 {
		t.Errorf("%d locks held twice, %d held locks lost", v.twice, v.lost)
	}
	if v.never && (r.means.name != list.name || f.name != cutOff && f.name != frozen) {
		t.Errorf("the client had no OK any more")
	}
	return v
}

// calling is a client that calls until it is stopped, and contends.
func (c *cluster) calling(t *testing.T, r *row, addr string, f fault) verdict {
	prefix := fmt.Sprintf("front%d:", time.Now().UnixNano())
	client := r.client.start(t, addr, prefix)
	client.waitOK(1)
	if first := client.all()[0]; !first.ok {
		t.Fatalf("the first call: %s", first.err)
	}
	other := contend(c.redlockds[2], prefix)
	client.waitOK(20)
	began := time.Now()
	f.begin(c, 0)
	client.watch(began, 2*time.Second, never)
	others := other.stop()
	client.stop(3 * time.Second)
	f.end(c, 0)
	return judge(client.all(), others, began)
}

// stepping is a client that makes one call after the other, which last long
// enough because the masters are far away.
func (c *cluster) stepping(t *testing.T, r *row, addr string, f fault, served []int) verdict {
	c.away(20 * time.Millisecond)
	defer c.away(0)
	client := r.stepping.start(t, addr, "")
	client.waitOK(4)
	used := r.used(c, served)
	began := time.Now()
	f.begin(c, used)
	client.watch(began, 2*time.Second, never)
	client.stop(0)
	f.end(c, used)
	return judge(client.all(), nil, began)
}

// holding is for a fault whose errors come at once, so that few calls are soon
// over: a client that holds a lock for 4 s, and then has 20 tasks contend. Only
// whether it has moved until then can be seen.
func (c *cluster) holding(t *testing.T, r *row, addr string, f fault, served []int) verdict {
	client := r.client.start(t, addr, "")
	client.waitOK(2)
	there := c.redlockds[2].Client()
	rig.Eventually(t, "the third call holds its lock", func() (bool, string) {
		value, err := there.Get(context.Background(), "mdx").Result()
		return value != "", fmt.Sprint(err)
	})
	used := r.used(c, served)
	f.begin(c, used)
	client.stop(2 * never)
	f.end(c, used)
	v := verdict{never: true}
	for _, call := range client.all() {
		t.Logf("%s => %s%.100s", call.kind, call.result, call.err)
		v.never = !call.ok
		if call.err != "" {
			v.errors++
		}
		if strings.Contains(call.result, "lost=False second=True") || strings.Contains(call.result, "inside=") && !strings.Contains(call.result, "inside=1 ") {
			v.twice++
		}
	}
	return v
}

// used is the redlockd that the client uses.
func (r *row) used(c *cluster, served []int) int {
	if r.means.name == list.name {
		return mostServed(served, c.served())
	}
	return 0
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
