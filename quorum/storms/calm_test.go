package storms

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// calm checks that locks can be taken some time after the last fault.
func (s *storm) calm() {
	if s.t.Failed() {
		return
	}
	s.tell("calm")
	for _, n := range s.nodes {
		n.reload(s.list())
	}
	time.Sleep(3 * time.Second) // redlockd that stood still look again
	dbs := []int{0}
	if has("databases") {
		dbs = append(dbs, 3)
		for _, n := range s.nodes {
			n.open(3) // a quarantine passes only while a redlockd watches
		}
	}
	if !s.recovers() {
		return
	}
	for i, n := range s.nodes {
		for _, db := range dbs {
			k := quorum.Op{Kind: quorum.Acquire, DB: db, Key: fmt.Sprint("calm", i), Token: "t", TTL: time.Second}
			o := n.do(k)
			// The first long lock of all waits until all marks bear its hold, which
			// takes a few looks (M3).
			for tries := 0; o.Verdict == quorum.Undecided && tries < patience(o.Err.Error()); tries++ {
				s.judge.count("excuse: the first tries after the calm are not decided")
				time.Sleep(200 * time.Millisecond)
				o = n.do(k)
			}
			if o.Verdict != quorum.Won {
				s.fail("NOT WON: redlockd %d, database %d: %v %v", i, db, o.Verdict, o.Err)
			}
		}
	}
	s.nothingLeft(dbs)
}

// recovers waits until all masters vote again for all redlockd (P3). It waits three
// times as long as an earlier lock may last, since a change of the list waits as well,
// and a change of an address waits for that.
func (s *storm) recovers() bool {
	hold, handover := s.longestHold(), time.Duration(0)
	for _, cfg := range s.shape.settings {
		handover = max(handover, cfg.Handover)
	}
	patience := 3*hold + handover + 30*time.Second
	for limit := s.Now() + patience; ; time.Sleep(time.Second) {
		why := s.ailing()
		if why == "" {
			return true
		}
		if s.Now() <= limit {
			continue
		}
		if !s.remedy() { // looking for one took a while
			if why = s.ailing(); why != "" {
				s.fail("NOT WELL after the calm: %s", why)
			}
			return why == ""
		}
		limit = s.Now() + patience
	}
}

// remedy does what docs/operations.md says where a master stays refused since it is of
// another list: first it starts a redlockd with the old file and reloads it with the new
// one; if that has not helped it starts it with the new file and empties these masters. It
// returns false if nothing is left to do, or if the list was never changed.
func (s *storm) remedy() bool {
	s.mu.Lock()
	before := s.before
	s.before = nil
	s.mu.Unlock()
	if before == nil {
		return s.emptyRefused()
	}
	for i, p := range before {
		for _, now := range s.list() {
			if now.master == p.master {
				before[i] = now // its address may have changed since
			}
		}
	}
	s.tell("redlockd 0 is started with the list of before the last change, and reloaded")
	s.judge.count("excuse: a redlockd was started with the old file, since all had restarted with the new one")
	s.startWith(before)
	return true
}

// startWith starts redlockd 0 with a list, and reloads it with the one in its file.
func (s *storm) startWith(list []site) {
	n := s.nodes[0]
	n.crash()
	n.bootWith(list)
	if has("databases") {
		n.open(3)
	}
}

// emptyRefused starts redlockd 0 with the new file, and empties the masters that are
// still refused since they are of another list, in the first database where any are: each
// once. It returns false if there are none and it was started so before, or if the list was
// never changed.
func (s *storm) emptyRefused() bool {
	if s.generation < 2 {
		return false
	}
	first := !s.restarted
	if s.restarted = true; first {
		s.judge.count("excuse: a redlockd was started with the new file, to complete the change")
	}
	s.startWith(s.list())
	time.Sleep(20 * time.Second) // the greatest max_ttl, for the locks of the old list
	servers := s.present()
	for db := range cluster.Databases {
		again := false
		for i, p := range s.list() {
			if !s.refuses(p.master, db) || s.emptied[p.master] {
				continue
			}
			s.tell("master %s, which is refused in database %d, is emptied", p.master, db)
			s.judge.count("excuse: a master of another list was emptied")
			s.emptied[p.master], again = true, true
			s.on(servers[i], 0, servers[i].Flush, nil)
		}
		if again {
			return true
		}
	}
	return first
}

// refuses reports whether any redlockd refuses a master in a database, since it is of
// another list.
func (s *storm) refuses(master string, db int) bool {
	return slices.ContainsFunc(s.nodes, func(n *node) bool {
		d := n.q.Cluster().Opened(db)
		return d != nil && slices.ContainsFunc(d.Status(), func(m cluster.MasterStatus) bool {
			return m.Name == master && strings.Contains(m.Reason, "another list of masters")
		})
	})
}

// ailing returns which masters do not vote for a redlockd, or nothing.
func (s *storm) ailing() string {
	for _, n := range s.nodes {
		st := n.q.Status()
		all := st.Voting == len(s.list()) && st.Voting == len(st.Masters) // by its own list, too
		if st.Ready && st.Phase == "final" && all && s.reaches(st) && (!has("databases") || n.q.Cluster().Database(3).Voting() == st.Voting) {
			continue
		}
		text := fmt.Sprintf("redlockd %d: ready %v, generation %d %s", n.number, st.Ready, st.Generation, st.Phase)
		for db := range cluster.Databases {
			if d := n.q.Cluster().Opened(db); d != nil {
				text += fmt.Sprintf("; database %d, silent for %v", db, d.Silence())
				for _, m := range d.Status() {
					text += fmt.Sprintf(", %s %s %s %v", m.Name, m.State, m.Reason, m.Wait)
				}
			}
		}
		return text
	}
	return ""
}

// reaches reports whether a redlockd is connected to the servers to which the addresses
// lead now.
func (s *storm) reaches(st quorum.Status) bool {
	servers := map[string]string{}
	s.Lock()
	defer s.Unlock()
	for _, p := range s.list() {
		servers[p.master] = p.leads().RunID
	}
	return !slices.ContainsFunc(st.Masters, func(m cluster.MasterStatus) bool { return servers[m.Name] != m.RunID })
}

// nothingLeft checks that no copy is left that should have been rolled back or released
// (P5), if the redlockd that had to do so lived on, and that no key is left without an
// expiry.
func (s *storm) nothingLeft(dbs []int) {
	time.Sleep(3 * time.Second)
	crashed := 0
	for _, n := range s.nodes {
		crashed += n.crashed
	}
	servers := s.present()
	s.judge.mu.Lock()
	defer s.judge.mu.Unlock()
	s.Lock()
	defer s.Unlock()
	for _, f := range servers {
		for _, db := range dbs {
			for _, key := range f.Keys(db) {
				if key == mark.Key {
					continue
				}
				e, _ := f.Get(db, key)
				if e.Expiry == 0 {
					s.fail("LEFT: master %s, database %d: %q has no expiry", f.Name, db, key)
				}
				for _, l := range s.judge.leases[fakeredis.KeyName{DB: db, Key: key}] {
					if l.token == holderIn(e.Token()) && !l.kept && crashed == 0 && !f.Strange {
						s.fail("LEFT: master %s, database %d: %q is held by %s, which was undone or freed", f.Name, db, key, l.token)
					}
				}
			}
		}
	}
}

// patience returns how many attempts after the calm may be undecided with this error:
// the slowest ways take longer than the shortest timeouts, a script that was flushed is
// missing once, and a first long lock waits for a few looks. A master whose beat three others have
// raised within a second, since they have just come to its list, waits for the next look (M4).
func patience(text string) int {
	switch {
	case strings.Contains(text, "being told"):
		return 20
	case strings.Contains(text, "being looked at"):
		return 6
	case strings.Contains(text, "too late"), strings.Contains(text, "NOSCRIPT"):
		return 4
	default:
		return 1
	}
}
