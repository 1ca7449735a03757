package quorum

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// fakeMaster is a redisServer whose methods take the lock themselves, with a wire to it.
type fakeMaster struct {
	*fakeredis.Server
	t    *testing.T
	near *fakeredis.Wire
	at   int // the database that Select has chosen
}

func newFakeMaster(t *testing.T, name string) *fakeMaster {
	// 6.2 acquires by script; tests of the plain SET choose a later version.
	s := fakeredis.NewServer(fakeredis.NewWorld(), name, "6.2.14", nil)
	s.RunID, s.KeepsLog = "run-"+name, true
	f := &fakeMaster{Server: s, t: t}
	f.near = f.newWire()
	return f
}

// newWire returns another way to the master.
func (f *fakeMaster) newWire() *fakeredis.Wire {
	return fakeredis.NewWire(f.Server, nil)
}

// dial returns a connection from a redlockd.
func (f *fakeMaster) dial() (net.Conn, error) { return f.near.Dial() }

// away has every batch take this long to the master.
func (f *fakeMaster) away(d time.Duration) { f.near.Away(d) }

// set changes the master.
func (f *fakeMaster) set(change func()) {
	f.Lock()
	defer f.Unlock()
	change()
}

// kill ends the process; startEmpty or startWithMemory starts it again.
func (f *fakeMaster) kill() { f.set(f.Crash) }

// mend ends what kill began, as if only the network had been cut.
func (f *fakeMaster) mend() { f.set(func() { f.Down = false }) }

func (f *fakeMaster) startEmpty() {
	f.set(func() {
		f.Flush()
		f.ForgetScripts()
		f.RunID, f.Down = f.RunID+"'", false
	})
}

// startWithMemory starts the process again with the keys it had.
func (f *fakeMaster) startWithMemory() {
	f.set(func() { f.RunID, f.Down = f.RunID+"'", false })
}

// cut ends all connections, as the network would: what is on its way still arrives.
func (f *fakeMaster) cut() { f.set(f.CutAll) }

// refuse answers all scripts with an error, until it is called with an empty text.
func (f *fakeMaster) refuse(text string) {
	f.set(func() { f.Refused["EVAL"], f.Refused["EVALSHA"] = text, text })
}

func (f *fakeMaster) freeze() { f.set(func() { f.Frozen = true }) }

func (f *fakeMaster) thaw() {
	f.set(func() {
		f.Frozen = false
		f.Work()
	})
}

// Select chooses the database of the methods below.
func (f *fakeMaster) Select(db int) { f.set(func() { f.at = db }) }

// holds returns the value of a key, or "".
func (f *fakeMaster) holds(key string) string { return f.valueIn(f.at, key) }

func (f *fakeMaster) valueIn(db int, key string) string {
	f.Lock()
	defer f.Unlock()
	e, _ := f.Get(db, key)
	return e.Token()
}

func (f *fakeMaster) Exists(key string) bool {
	f.Lock()
	defer f.Unlock()
	_, ok := f.Get(f.at, key)
	return ok
}

// Set sets a key without an expiry.
func (f *fakeMaster) Set(key, value string) {
	f.set(func() { f.Put(f.at, key, fakeredis.Entry{Value: value}) })
}

// SetForeign sets a key that is no string.
func (f *fakeMaster) SetForeign(key string) {
	f.set(func() { f.Put(f.at, key, fakeredis.Entry{Foreign: true}) })
}

func (f *fakeMaster) Del(key string) { f.set(func() { f.Server.Del(f.at, key) }) }

func (f *fakeMaster) SetTTL(key string, ttl time.Duration) {
	f.set(func() {
		e, _ := f.Get(f.at, key)
		e.Expiry = f.Millis() + ttl.Milliseconds()
		f.Put(f.at, key, e)
	})
}

// TTL returns what is left of a key, or 0.
func (f *fakeMaster) TTL(key string) time.Duration {
	f.Lock()
	defer f.Unlock()
	e, _ := f.Get(f.at, key)
	if e.Expiry == 0 {
		return 0
	}
	return time.Duration(e.Expiry-f.Millis()) * time.Millisecond
}

// Keys returns the keys of the chosen database, with the mark.
func (f *fakeMaster) Keys() []string {
	f.Lock()
	defer f.Unlock()
	return f.Server.Keys(f.at)
}

func (f *fakeMaster) FlushAll() { f.set(f.Flush) }

func (f *fakeMaster) FlushDB() { f.set(func() { f.Server.FlushDB(f.at) }) }

// FlushScripts forgets the scripts, as SCRIPT FLUSH does.
func (f *fakeMaster) FlushScripts() { f.set(f.ForgetScripts) }

// commands returns the commands that the master got, after the first skip.
func (f *fakeMaster) commands(skip int) []string {
	f.Lock()
	defer f.Unlock()
	return slices.Clone(f.Log[skip:])
}

// calls counts the calls of a script among the commands after the first skip, by text or by SHA1.
func (f *fakeMaster) calls(skip int, s *scripts.Script) (n int) {
	for _, line := range f.commands(skip) {
		if strings.HasPrefix(line, "EVAL "+s.Text) || strings.HasPrefix(line, "EVALSHA "+s.SHA) {
			n++
		}
	}
	return n
}
