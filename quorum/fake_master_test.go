package quorum

import (
	"net"
	"slices"
	"testing"
	"time"
)

// fakeMaster is a redisServer whose methods take the lock themselves, with a wire to it.
type fakeMaster struct {
	*redisServer
	t    *testing.T
	near *wire
	at   int // the database that Select has chosen
}

func newFakeMaster(t *testing.T, name string) *fakeMaster {
	// 6.2 acquires by script; tests of the plain SET choose a later version.
	s := newServer(&world{began: time.Now()}, name, "6.2.14", nil)
	s.runID, s.keepsLog = "run-"+name, true
	f := &fakeMaster{redisServer: s, t: t}
	f.near = f.newWire()
	return f
}

// newWire returns another way to the master.
func (f *fakeMaster) newWire() *wire {
	return &wire{world: f.world, server: f.redisServer, pipes: map[*pipe]bool{}}
}

// dial returns a connection from a redlockd.
func (f *fakeMaster) dial() (net.Conn, error) { return f.near.dial() }

// away has every batch take this long to the master.
func (f *fakeMaster) away(d time.Duration) { f.near.away(d) }

func (w *wire) away(d time.Duration) { w.change(func() { w.there.delay = d }) }

// set changes the master.
func (f *fakeMaster) set(change func()) {
	f.Lock()
	defer f.Unlock()
	change()
}

// kill ends the process; startEmpty or startWithMemory starts it again.
func (f *fakeMaster) kill() { f.set(f.crash) }

// mend ends what kill began, as if only the network had been cut.
func (f *fakeMaster) mend() { f.set(func() { f.down = false }) }

func (f *fakeMaster) startEmpty() {
	f.set(func() {
		f.flush()
		f.scripts = map[string]string{}
		f.runID, f.down = f.runID+"'", false
	})
}

// startWithMemory starts the process again with the keys it had.
func (f *fakeMaster) startWithMemory() {
	f.set(func() { f.runID, f.down = f.runID+"'", false })
}

// cut ends all connections, as the network would: what is on its way still arrives.
func (f *fakeMaster) cut() {
	f.set(func() {
		for _, p := range slices.Clone(f.pipes) {
			p.close()
		}
	})
}

// refuse answers all scripts with an error, until it is called with an empty text.
func (f *fakeMaster) refuse(text string) {
	f.set(func() { f.refused["EVAL"], f.refused["EVALSHA"] = text, text })
}

func (f *fakeMaster) freeze() { f.set(func() { f.frozen = true }) }

func (f *fakeMaster) thaw() {
	f.set(func() {
		f.frozen = false
		f.work()
	})
}

// Select chooses the database of the methods below.
func (f *fakeMaster) Select(db int) { f.set(func() { f.at = db }) }

// holds returns the value of a key, or "".
func (f *fakeMaster) holds(key string) string { return f.valueIn(f.at, key) }

func (f *fakeMaster) valueIn(db int, key string) string {
	f.Lock()
	defer f.Unlock()
	e, _ := f.get(db, key)
	return e.value
}

func (f *fakeMaster) Exists(key string) bool {
	f.Lock()
	defer f.Unlock()
	_, ok := f.get(f.at, key)
	return ok
}

// Set sets a key without an expiry.
func (f *fakeMaster) Set(key, value string) { f.set(func() { f.put(f.at, key, entry{value: value}) }) }

// SetForeign sets a key that is no string.
func (f *fakeMaster) SetForeign(key string) { f.set(func() { f.put(f.at, key, entry{foreign: true}) }) }

func (f *fakeMaster) Del(key string) { f.set(func() { f.del(f.at, key) }) }

func (f *fakeMaster) SetTTL(key string, ttl time.Duration) {
	f.set(func() {
		e, _ := f.get(f.at, key)
		e.expiry = f.millis() + ttl.Milliseconds()
		f.put(f.at, key, e)
	})
}

// TTL returns what is left of a key, or 0.
func (f *fakeMaster) TTL(key string) time.Duration {
	f.Lock()
	defer f.Unlock()
	e, _ := f.get(f.at, key)
	if e.expiry == 0 {
		return 0
	}
	return time.Duration(e.expiry-f.millis()) * time.Millisecond
}

// Keys returns the keys of the chosen database, with the mark.
func (f *fakeMaster) Keys() []string {
	f.Lock()
	defer f.Unlock()
	return f.keys(f.at)
}

func (f *fakeMaster) FlushAll() { f.set(f.flush) }

func (f *fakeMaster) FlushDB() {
	for _, key := range f.Keys() {
		f.Del(key)
	}
}

// FlushScripts forgets the scripts, as SCRIPT FLUSH does.
func (f *fakeMaster) FlushScripts() { f.set(func() { f.scripts = map[string]string{} }) }

// commands returns the commands that the master got, after the first skip.
func (f *fakeMaster) commands(skip int) []string {
	f.Lock()
	defer f.Unlock()
	return slices.Clone(f.log[skip:])
}
