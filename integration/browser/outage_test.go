package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestOutage is what somebody on call sees: that locks are refused, when that ends, what to do and
// what happened; and that refusals do not look like fast locks, nor dead masters like voters.
func TestOutage(t *testing.T) {
	r, masters := overFiveCities(t)
	b := open(t, "http://"+r.Admin+"/")
	b.sees("that it is no -dev", "document.querySelector('#dev').hidden")
	b.sees("no outage", "document.querySelector('#outage').hidden && document.querySelector('#advice').hidden")
	work(t, r)
	gather(40 * time.Second)
	b.sees("that locks are taken", "/ms|µs/.test(document.querySelector('#numbers').innerText)")

	for _, m := range masters[:3] {
		m.Kill()
	}
	outlook := "document.querySelector('#outlook').innerText"
	b.sees("that locks are refused", "document.querySelector('#verdict').innerText.includes('Locks are refused: 2 of 5')")
	b.sees("who has to come back", outlook+".includes('when one more master votes: fra1, fra2 or ams1')")
	b.sees("what to do, for this case only", "[...document.querySelectorAll('#advice [data-for]')].filter(e => !e.hidden).map(e => e.dataset.for).join() === 'down'")
	b.sees("what happened", "/master is down.*fra1/.test(document.querySelector('#lately').innerText)")
	b.sees("that the dead have no share of the votes", master("fra1")+".innerText.includes(`vote share\\n–`)")
	// Ten seconds later nothing of the good time is left, and no refusal counts as an acquire.
	b.sees("that no acquire was decided", "document.querySelector('#numbers').innerText.includes('none was decided')")
	get(b, chromedp.Evaluate[bool]("document.querySelector('#outage a').click() || true"))
	b.sees("that the link leads to what to do", "location.hash === '#help' && document.querySelector('#help').getBoundingClientRect().top < innerHeight")
	b.shot("outage-down", 1440, false, "none")

	for _, m := range masters[:3] {
		m.RestartEmpty()
	}
	b.sees("when service resumes, and by whom", `/Service resumes in \d+(\.\d)? s at the earliest: then (fra1|fra2|ams1) votes, the third master/.test(`+outlook+")")
	b.shot("outage", 1440, false, "none")
	b.shot("outage-dark", 1440, true, "none")
	b.shot("outage-phone", 390, false, "none")
	b.sees("that the outage is over", "document.querySelector('#outage').hidden && document.querySelector('#advice').hidden")
}

// TestNewCluster: whoever forgot -bootstrap is told.
func TestNewCluster(t *testing.T) {
	r := rig.JoinRedlockd(t, rig.Over(rig.StartMasters(t, 3)))
	b := open(t, "http://"+r.Admin+"/")
	b.sees("the wait, and what ends it", `/Service resumes in 24 h/.test(document.querySelector('#outage').innerText) &&
		document.querySelector('#outage').innerText.includes('To end the wait, run redlockd -bootstrap if no lock can be held.')`)
	b.sees("what to do with new masters", "[...document.querySelectorAll('#advice [data-for]')].filter(e => !e.hidden).map(e => e.dataset.for).join() === 'new'")
	b.shot("new", 1440, false, "none")
}

// TestFindsOneOfManyLocks: with 3,000 locks, one is found with its holder, and who waits for it.
func TestFindsOneOfManyLocks(t *testing.T) {
	masters := rig.StartMasters(t, 3)
	r := rig.StartRedlockd(t, rig.Over(masters), masters)
	ctx := context.Background()
	holder := named(t, r, "import-3")
	pipe := holder.Pipeline()
	for i := range 3000 {
		pipe.SetNX(ctx, fmt.Sprintf("locks:customer:%04d", i), token, time.Minute*time.Duration(5+i%7))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	b := open(t, "http://"+r.Admin+"/")
	b.sees("how many there are", "document.querySelector('#numbers').innerText.includes('3,000')")
	b.sees("a few of them", "document.querySelectorAll('#longest tbody tr').length === 12")
	b.shot("locks", 1440, false, "none")

	const wanted = "locks:customer:2718"
	b.find(wanted)
	row := "document.querySelector('#found tbody tr')?.innerText"
	b.sees("its holder, in one row", fmt.Sprintf("document.querySelectorAll('#found tbody tr').length === 1 && %s.includes(%q) && /held/.test(%s) && %s.includes('import-3')", row, wanted, row, row))
	b.sees("that nobody waits", row+".includes('nobody')")
	for i := range 11 {
		c := named(t, r, fmt.Sprintf("worker-%02d", i))
		if err := c.SetNX(ctx, wanted, token, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	waits := named(t, r, "patient")
	if err := holder.SetNX(ctx, "lock:k", token, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	go waits.BLPop(ctx, time.Minute, "lock-signal:k")
	b.sees("who waits, some of them", row+".includes('worker-10') && "+row+".includes('and 6 others')")
	b.sees("what is contended, with its holder", "[...document.querySelectorAll('#contended tbody tr')].some(r => r.innerText.includes('2718') && r.innerText.includes('import-3'))")
	b.shot("contended", 1440, false, "none")
	b.shot("contended-phone", 390, true, "none")
	b.find("lock:k")
	b.sees("who waits for a signal", row+".includes('patient') && "+row+".includes('waits for a signal')")
	b.find("nobody:has:it")
	b.sees("that it is free", row+".includes('free')")
	// A click on a lock of a list looks it up.
	get(b, chromedp.Evaluate[bool]("document.querySelector('#contended button').click() || true"))
	b.sees("the lock that was clicked", row+fmt.Sprintf(".includes(%q)", wanted))
}

// find looks for a lock, as somebody who types its name.
func (b *tab) find(key string) {
	b.t.Helper()
	get(b, chromedp.Evaluate[bool](fmt.Sprintf("(document.querySelector('#find-key').value = %q, document.querySelector('#find').requestSubmit(), true)", key)))
}

// TestDevSaysSo: nobody mistakes masters in memory for a cluster.
func TestDevSaysSo(t *testing.T) {
	r := rig.DevRedlockd(t)
	b := open(t, "http://"+r.Admin+"/")
	b.sees("that it is -dev", "!document.querySelector('#dev').hidden && document.querySelector('#dev').innerText.includes('-dev')")
	b.shot("dev", 1440, false, "none")
}
