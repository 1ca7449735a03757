package browser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

const token = "token-that-nobody-may-see"

// TestStatusPage shows a lock that comes and goes, and a master that goes and
// comes back, as somebody sees it who looks at the page all the time.
func TestStatusPage(t *testing.T) {
	r, masters := overFiveCities(t)
	b := open(t, "http://"+r.Admin+"/")
	b.sees("that all masters vote", "document.querySelectorAll('.master.voting').length === 5")
	b.sees("that it is ready", "document.querySelector('#verdict').innerText.startsWith('✓ Ready')")

	ctx := context.Background()
	client := named(t, r, "billing-7")
	// Names come from clients, who may be hostile.
	key := `<img src=x onerror=alert(1)>`
	if ok, err := client.SetNX(ctx, key, token, 15*time.Second).Result(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	row := fmt.Sprintf("[...document.querySelectorAll('#longest tbody tr')].find(r => r.textContent.includes(%q))", key)
	b.sees("the lock, as text, with its holder", row+"?.textContent.includes('billing-7') && document.images.length === 0")
	b.sees("the session", "document.querySelector('#sessions').textContent.includes('billing-7')")
	if err := client.Eval(ctx, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
		[]string{key}, token).Err(); err != nil {
		t.Fatal(err)
	}
	b.sees("that it is free again", "!"+row)
	work(t, r)
	b.sees("what is wanted most", "document.querySelector('#contended').textContent.includes('locks:ledger')")

	masters[2].Kill()
	b.sees("that a master is down", master("ams1")+".matches('.down') && "+master("ams1")+".innerText.includes('down')")
	b.sees("that four vote", "document.querySelector('#verdict').innerText.includes('4 of 5 masters vote')")
	gather(100 * time.Second)
	b.find("locks:ledger:close")
	b.shot("readme", 1280, false, "none")
	b.shot("desktop", 1440, false, "none")
	b.shot("dark", 1440, true, "none")
	b.shot("grey", 1440, false, "achromatopsia")
	b.shot("phone", 390, false, "none")
	b.shot("wall", 1920, true, "none")

	masters[2].RestartEmpty()
	b.sees("that it is in quarantine, and for how long",
		master("ams1")+"?.matches('.quarantine') && / to go/.test("+master("ams1")+".innerText)")
	b.shot("quarantine", 1440, false, "none")
	seconds := func() float64 {
		return get(b, chromedp.Evaluate[float64]("parseFloat("+master("ams1")+".querySelector('.wait')?.innerText ?? '0')"))
	}
	before := seconds()
	rig.Eventually(t, "the countdown goes on", func() (bool, string) {
		now := seconds()
		return now < before-1, fmt.Sprint(before, now)
	})
	b.sees("that it votes again", master("ams1")+".matches('.voting')")
	b.sees("that all are well", "document.querySelector('#verdict').innerText.startsWith('✓ Ready')")
	text := get(b, chromedp.Evaluate[string]("document.documentElement.outerHTML"))
	if strings.Contains(text, token) || strings.Contains(text, "worker-token") {
		t.Error("the page shows a token")
	}

	// Whoever looks sees that nothing comes any more, and that it comes again.
	r.Freeze()
	b.sees("that redlockd is silent", "document.body.matches('.stale') && !document.querySelector('#lost').hidden")
	r.Thaw()
	b.sees("that it speaks again", "!document.body.matches('.stale') && document.querySelector('#lost').hidden")
}

// overFiveCities starts redlockd over five masters whose quarantine lasts 20 s.
func overFiveCities(t *testing.T) (*rig.Redlockd, []*rig.Master) {
	t.Helper()
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	cfg.MaxTTL = 15 * time.Second
	cfg.Names = []string{"fra1", "fra2", "ams1", "ams2", "par1"}
	return rig.StartRedlockd(t, cfg, masters), masters
}

// work is what a busy day looks like: workers that want a few locks.
func work(t *testing.T, r *rig.Redlockd) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	keys := []string{"locks:ledger:close", "locks:orders:batch", "locks:mail:digest", "locks:report:daily", "locks:cache:warm"}
	for i := range 12 {
		client := named(t, r, fmt.Sprintf("worker-%d", i))
		workers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := keys[min(int(rand.ExpFloat64()*1.4), len(keys)-1)]
				token := fmt.Sprintf("worker-token-%d-%d", i, n)
				if ok, _ := client.SetNX(ctx, key, token, 10*time.Second).Result(); ok {
					time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond) // its work
					_ = client.Eval(ctx, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
						[]string{key}, token).Err()
				}
				time.Sleep(time.Duration(20+rand.IntN(100)) * time.Millisecond) // until it has some again
			}
		})
	}
	for i, key := range []string{"locks:migration:2031", "locks:leader:scheduler", "locks:import:customers"} {
		client := named(t, r, []string{"deploy", "scheduler-a", "import-3"}[i])
		workers.Go(func() {
			for ctx.Err() == nil {
				if ok, _ := client.SetNX(ctx, key, token, 15*time.Second).Result(); !ok {
					_ = client.Eval(ctx, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`,
						[]string{key}, token, 15000).Err()
				}
				time.Sleep(time.Duration(2+i) * time.Second) // until it extends its lock
			}
		})
	}
	t.Cleanup(func() { cancel(); workers.Wait() })
}

// named is a client that says who it is.
func named(t *testing.T, r *rig.Redlockd, name string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: r.Addr, ClientName: name, PoolSize: 1, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
