package outbox

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// releases returns a release of t.
func (m *master) releases() Task {
	return Task{Kind: vote.Release, Effects: []Effect{{Meets: Token, Does: Deletes}}}
}

// V8: a repeat is for the copies that the operation has met, and for these locks as they were
// created; not for what was extended since, or has the token only.
func TestV8RepeatsWhatWasMet(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		again := func(kind vote.Kind, does Does) Task {
			met := ids(5, 6) + ids(1, 2)
			t := m.does(kind, 7, Effect{Meets: Those, Whose: met, Does: does, New: "u"})
			t.MustDeliver, t.Missed = true, &Missed{}
			return t
		}
		change, keep := again(vote.Extend, Sets), again(vote.Extend, Keeps)
		deletes := again(vote.Release, Deletes)
		return []copyCase{
			{"delete what was met", deletes, "t 1/2 1000 50 2000", "", vote.Released},
			{"delete it as it was created", deletes, "t 1/1 1000 50 2000", "", vote.Released},
			{"delete what was extended since", deletes, "t 1/3 1000 50 2000", "t 1/3 1000 50 2000", vote.Absent},
			{"delete another lock", deletes, "t 3/3 1000 50 2000", "t 3/3 1000 50 2000", vote.Absent},
			{"delete another lock of its attempt", deletes, "t 3/2 1000 50 2000", "t 3/2 1000 50 2000", vote.Absent},
			{"delete a mix", deletes, "t 1/6 1000 50 2000", "t 1/6 1000 50 2000", vote.Absent},
			{"delete a bare token", deletes, "t - 2000", "t - 2000", vote.Absent},
			{"delete nothing", deletes, "", "", vote.Absent},
			{"change what was met", change, "t 1/2 5000 90 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"change it as it was created", change, "t 5/5 5000 90 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"change and keep", keep, "t 1/2 500 20 1000", "u 7/9 500 20 1000", vote.Prolonged},
			{"change what was extended since", change, "t 1/3 500 20 1000", "t 1/3 500 20 1000", vote.Absent},
			{"change a bare token", change, "t - 2000", "t - 2000", vote.Absent},
		}
	})
}

// V9: a heal gives a lock back where the key is absent. V2, V8: a release deletes by the token, also
// a bare one; a Remove deletes anything.
func TestV9HealsAndReleases(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		heal := m.does(vote.Extend, 1, Effect{Meets: Nothing, Does: Stores})
		release, until, remove := m.releases(), m.releases(), m.does(vote.Remove, 0, Effect{Meets: Anything, Does: Deletes})
		until.Deadline = m.now + 1000
		return []copyCase{
			{"heal", heal, "", "t 1/9 1000 50 2000", vote.Created},
			{"heal what is there", heal, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Refused},
			{"release", release, "t 1/2 500 20 1000", "", vote.Released},
			{"release a bare token", release, "t - 1000", "", vote.Released},
			{"release another token", release, "u 1/2 500 20 1000", "u 1/2 500 20 1000", vote.Refused},
			{"release until", until, "t 1/2 500 20 1000", "", vote.Released},
			{"release another token until", until, "u 1/2 500 20 1000", "u 1/2 500 20 1000", vote.Refused},
			{"release nothing", release, "", "", vote.Absent},
			{"remove", remove, "u 1/2 500 20 1000", "", vote.Released},
			{"remove a bare token", remove, "t - 1000", "", vote.Released},
		}
	})
}

// S4: what follows WATCH meets only the locks that were seen; bare tokens are compared alone.
func TestS4MeetsTheLocksThatWereSeen(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		seen := tail.ID(3).String() + tail.ID(1).String()
		extend := m.does(vote.Extend, 7, Effect{Meets: Living, Whose: seen, Does: Raises})
		release := m.releases()
		release.Effects[0].Whose = seen
		bare := m.does(vote.Extend, 7, Effect{Meets: Living, Whose: seen + tail.ID(0).String(), Does: Raises})
		return []copyCase{
			{"extend", extend, "t 1/2 500 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"extend another lock", extend, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"extend a bare token", extend, "t - 1000", "t - 1000", vote.Refused},
			{"extend a bare token that was seen", bare, "t - 1000", "t - 2000", vote.Prolonged},
			{"release", release, "t 3/2 500 20 1000", "", vote.Released},
			{"release another lock", release, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"release a bare token", release, "t - 1000", "t - 1000", vote.Refused},
		}
	})
}

// V6, S4: what a transaction does to each key, and that it does nothing where one is not as expected.
func TestV6TransactionsGiveCopies(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		to := func(does Does, token string) Effect { return Effect{Meets: Token, Token: "t", Does: does, New: token} }
		create, same, raise, keep, deletes := Effect{Meets: Nothing, Does: Stores, New: "t"}, to(Stores, "t"), to(Raises, "t"), to(Keeps, "t"), to(Deletes, "")
		seen := same
		bare := seen
		seen.Whose, bare.Whose = tail.ID(1).String(), tail.ID(0).String()
		for _, c := range []struct {
			name         string
			effect       Effect
			lock         tail.ID
			before, want string
			vote         vote.Vote
		}{
			{"create", create, 9, "", "t 9/9 1000 50 2000", vote.Created},
			{"create where it is", create, 9, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Refused},
			{"change", to(Stores, "u"), 7, "t 1/1 5000 90 9000", "u 7/9 1000 50 2000", vote.Created},
			{"store the same", same, 7, "t 1/1 5000 90 9000", "t 7/9 1000 50 2000", vote.Created},
			{"raise", raise, 7, "t 1/1 500 90 1000", "t 1/9 1000 90 2000", vote.Created},
			{"raise what lasts longer", raise, 7, "t 1/1 5000 20 9000", "t 1/9 5000 50 9000", vote.Created},
			{"raise and change", to(Raises, "u"), 7, "t 1/1 5000 20 9000", "u 7/9 5000 50 9000", vote.Created},
			{"raise a bare token", raise, 7, "t - 1000", "t - 2000", vote.Created},
			{"keep", keep, 7, "t 1/1 500 20 1000", "t 1/9 500 20 1000", vote.Created},
			{"keep and change", to(Keeps, "u"), 7, "t 1/1 500 20 1000", "u 7/9 500 20 1000", vote.Created},
			{"delete", deletes, 7, "t 1/1 500 20 1000", "", vote.Created},
			{"delete another token", deletes, 7, "u 1/1 500 20 1000", "u 1/1 500 20 1000", vote.Refused},
			{"delete nothing", deletes, 7, "", "", vote.Absent},
			{"make sure", to(Leaves, ""), 7, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Created},
			{"a lock that was seen", seen, 7, "t 1/1 500 20 1000", "t 7/9 1000 50 2000", vote.Created},
			{"another lock", seen, 7, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"a bare token", seen, 7, "t - 1000", "t - 1000", vote.Refused},
			{"a bare token that was seen", bare, 7, "t - 1000", "t 7/9 1000 50 2000", vote.Created},
		} {
			m.puts("k", c.before)
			m.puts("l", "v 4/5 500 20 1000")
			c.effect.Key = "k"
			effects := []Effect{{Key: "l", Meets: Token, Token: "v", Does: Deletes}, c.effect}
			r := m.asks(&Task{Kind: vote.Transact, Copies: []Copy{{}, m.gives(c.lock)}, Effects: effects})[0]
			if got := m.has("k"); got != c.want || r.Ballot.Vote != c.vote {
				t.Errorf("%s: %q became %q and %v, want %q and %v", c.name, c.before, got, r.Ballot.Vote, c.want, c.vote)
			}
			if gone := m.has("l") == ""; gone != (c.vote == vote.Created) {
				t.Errorf("%s: the other key is deleted %v", c.name, gone)
			}
			if b := r.Ballot; b.Were != nil && (*b.Were)[0].IDs() != ids(4, 5) {
				t.Errorf("%s: it says of the other key that it was %+v", c.name, b.Were)
			}
		}
	})
}

// V8: what was met is told by its lock and attempt.
func TestV8TellsWhatItMet(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		until := m.releases()
		until.Deadline = m.now + 1000
		for _, task := range []Task{
			m.releases(), until, m.does(vote.Remove, 0, Effect{Meets: Anything, Does: Deletes}), m.does(vote.Read, 0, Effect{}),
			m.does(vote.AcquireOrExtend, 9, Effect{Meets: Free, Does: Raises, New: "t"}),
			m.does(vote.Extend, 7, Effect{Meets: Living, Does: Raises, New: "t"}), m.does(vote.Extend, 7, Effect{Meets: Living, Does: Sets, New: "u"}),
		} {
			for _, till := range []string{"1000", "9000"} {
				m.puts("k", "t 1/2 500 20 "+till)
				task.Effects[0].Key, task.Effects[0].Token = "k", "t"
				if b := m.asks(&task)[0].Ballot; b.Tail.IDs() != ids(1, 2) || b.Tail.End != m.now+500 {
					t.Errorf("%v until %s tells of %+v", task.Kind, till, b)
				}
			}
		}
	})
}

// V15: a copy is over when its end and its grace have gone by, for what asks for it, which then
// leaves it as it is. Releases delete it all the same, and what takes it anyway gets it.
func TestV15OverByEndAndGrace(t *testing.T) {
	const last, over = "t 1/8 -20 20 1000", "t 1/8 -21 20 1000"
	checkCopies(t, func(m *master) []copyCase {
		take := m.does(vote.AcquireOrExtend, 9, Effect{Meets: Free, Does: Raises})
		extend := func(meets Meets, does Does, to string) Task {
			return m.does(vote.Extend, 7, Effect{Meets: meets, Does: does, New: to})
		}
		expire := m.does(vote.Expire, 7, Effect{Meets: Present, Does: Sets})
		store, plain := m.does(vote.Store, 7, Effect{Meets: Present, Does: Stores, New: "u"}), m.does(vote.Store, 7, Effect{Meets: Anything, Does: Stores, New: "u"})
		renew := m.does(vote.Extend, 7, Effect{Meets: Own, Whose: tail.ID(9).String(), Does: Raises})
		remove := m.does(vote.Remove, 0, Effect{Meets: Anything, Does: Deletes})
		release, late := m.releases(), m.releases()
		late.Deadline = m.now + 1000
		return []copyCase{
			{"extend", extend(Living, Raises, ""), over, over, vote.Absent},
			{"extend in the last millisecond", extend(Living, Raises, ""), last, "t 1/9 1000 50 2000", vote.Prolonged},
			{"extend a bare token", extend(Living, Raises, ""), "t - 1", "t - 2000", vote.Prolonged},
			{"extend anyway", extend(Token, Raises, ""), over, "t 1/9 1000 50 2000", vote.Prolonged},
			{"extend anyway what is gone", extend(Token, Raises, ""), "", "", vote.Absent},
			{"extend anyway another's", extend(Token, Raises, ""), "u 1/8 -21 20 1000", "u 1/8 -21 20 1000", vote.Refused},
			{"extend another's", extend(Living, Raises, ""), "u 1/8 -21 20 1000", "u 1/8 -21 20 1000", vote.Refused},
			{"keep", extend(Living, Keeps, ""), over, over, vote.Absent},
			{"change", extend(Living, Sets, "u"), over, over, vote.Absent},
			{"change anyway", extend(Token, Sets, "u"), over, "u 7/9 1000 50 2000", vote.Prolonged},
			{"renew", renew, "t 1/9 -21 20 1000", "t 1/9 -21 20 1000", vote.Absent},
			{"renew in the last millisecond", renew, "t 1/9 -20 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"take", take, over, "t 1/9 1000 50 2000", vote.Prolonged},
			{"take another's", take, "u 1/8 -21 20 1000", "u 1/8 -21 20 1000", vote.Refused},
			{"expire", expire, over, over, vote.Absent},
			{"expire in the last millisecond", expire, last, "t 1/9 1000 50 2000", vote.Prolonged},
			{"expire a bare token", expire, "t - 1", "t - 2000", vote.Prolonged},
			{"store if present", store, over, over, vote.Absent},
			{"store if present in the last millisecond", store, last, "u 7/9 1000 50 2000", vote.Prolonged},
			{"store if present over a bare token", store, "t - 1", "u 7/9 1000 50 2000", vote.Prolonged},
			{"store", plain, over, "u 7/9 1000 50 2000", vote.Prolonged},
			{"release", release, over, "", vote.Absent},
			{"release in the last millisecond", release, last, "", vote.Released},
			{"release a bare token", release, "t - 1", "", vote.Released},
			{"release by a deadline", late, over, "", vote.Absent},
			{"release by a deadline in the last millisecond", late, last, "", vote.Released},
			{"release another's", release, "u 1/8 -21 20 1000", "u 1/8 -21 20 1000", vote.Refused},
			{"remove", remove, over, "", vote.Absent},
			{"remove in the last millisecond", remove, last, "", vote.Released},
			{"remove a bare token", remove, "t - 1", "", vote.Released},
		}
	})
}

// V15: a read tells how much is left until the end, and until the expiry; and whether the copy is
// over. A bare token has only its expiry.
func TestV15ReadTellsWhatIsLeft(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		for _, c := range []struct {
			copy       string
			left, hold time.Duration
			over       bool
		}{
			{"t 1/8 500 20 1000", 500, 1000, false}, {"t 1/8 0 20 1000", 0, 1000, false}, {"t 1/8 -20 20 1000", -20, 1000, false},
			{"t 1/8 -21 20 1000", -21, 1000, true}, {"t - 1000", 1000, 1000, false}, {"t - 1", 1, 1, false},
		} {
			m.puts("k", c.copy)
			b := m.asks(&Task{Kind: vote.Read, Effects: []Effect{{Key: "k"}}})[0].Ballot
			if b.Vote != vote.Found || b.Token != "t" || b.Left != c.left*time.Millisecond || b.Hold != c.hold*time.Millisecond || b.Over != c.over {
				t.Errorf("%q is read as %+v", c.copy, b)
			}
		}
	})
}

// V15: by a clock that may have stepped no copy is over (M5). What was met tells that it is, whatever
// the vote; only a release is another vote by that.
func TestV15OverByItsClock(t *testing.T) {
	const reading = 1000
	for _, c := range []struct {
		name string
		met  vote.Vote
		end  int64
		by   vote.Weight
		want vote.Vote
		over bool
	}{
		{"released", vote.Released, reading - 20, vote.Full, vote.Released, false},
		{"released, over", vote.Released, reading - 21, vote.Full, vote.Absent, true},
		{"released by a clock that may have stepped", vote.Released, reading - 21, vote.NoAbsence, vote.Released, false},
		{"found, over", vote.Found, reading - 21, vote.Full, vote.Found, true},
		{"found by a clock that may have stepped", vote.Found, reading - 21, vote.NoAbsence, vote.Found, false},
		{"taken, over", vote.Prolonged, reading - 21, vote.Full, vote.Prolonged, true},
		{"taken", vote.Prolonged, reading, vote.Full, vote.Prolonged, false},
		{"another's, over", vote.Refused, reading - 21, vote.Full, vote.Refused, true},
	} {
		its := tail.Tail{Lock: 1, Attempt: 8, End: c.end, Grace: 20 * time.Millisecond}
		r := Result{Ballot: vote.Ballot{Vote: c.met, Tail: its}}
		r.Weigh(&Task{}, c.by, reading)
		if b := r.Ballot; b.Vote != c.want || b.Over != c.over || b.Tail != its {
			t.Errorf("%s: %v, over %v, %+v, want %v, over %v", c.name, b.Vote, b.Over, b.Tail, c.want, c.over)
		}
	}
	r := Result{Ballot: vote.Ballot{Vote: vote.Released}}
	if r.Weigh(&Task{}, vote.Full, 1<<60); r.Ballot.Vote != vote.Released || r.Ballot.Over {
		t.Errorf("a bare token was released as %v, over %v", r.Ballot.Vote, r.Ballot.Over)
	}
}

// M2: a bundle does for each key what the tasks would do alone.
func TestM2BundlesCutAlike(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		type item struct {
			task         Task
			before, want string
			vote         vote.Vote
		}
		items := []item{
			{m.does(vote.Acquire, 9, Effect{Meets: Nothing, Does: Stores, New: "t"}), "", "t 9/9 1000 50 2000", vote.Created},
			{m.does(vote.Acquire, 9, Effect{Meets: Nothing, Does: Stores, New: "t"}), "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Refused},
			{m.does(vote.Acquire, 9, Effect{Meets: Nothing, Does: Stores, New: "t"}), "t 1/8 -21 20 1000", "t 1/8 -21 20 1000", vote.Refused},
			{m.releases(), "t 1/2 500 20 1000", "", vote.Released},
			{m.releases(), "t - 1000", "", vote.Released},
			{m.releases(), "tailed 1/2 500 20 1000", "tailed 1/2 500 20 1000", vote.Refused},
			{m.releases(), "u - 1000", "u - 1000", vote.Refused},
			{m.releases(), "t 1/8 -21 20 1000", "", vote.Absent},
			{m.releases(), "t 1/8 -20 20 1000", "", vote.Released},
			{m.releases(), "u 1/8 -21 20 1000", "u 1/8 -21 20 1000", vote.Refused},
		}
		items = append(items, items...) // releases go as a bundle, behind the acquires around them
		for _, size := range []int{len(items), 1} {
			var results []Result
			var tasks []*Task
			for i, c := range items {
				task := c.task
				task.Effects = slices.Clone(task.Effects)
				task.Effects[0].Key, task.Effects[0].Token = string(rune('a'+i)), "t"
				m.puts(task.Key(), c.before)
				tasks = append(tasks, &task)
			}
			for batch := range slices.Chunk(tasks, size) {
				results = append(results, m.asks(batch...)...)
			}
			for i, task := range tasks { // in the order in which they went out
				key := task.Key()
				c := items[key[0]-'a']
				if got := m.has(key); got != c.want || results[i].Ballot.Vote != c.vote {
					t.Errorf("%d at once: %q became %q and %v, want %q and %v", size, c.before, got, results[i].Ballot.Vote, c.want, c.vote)
				}
			}
		}
	})
}

// M2: where the user may not delete one of the keys, the others are deleted all the same.
func TestM2BundleDeletesOneByOne(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		const no = "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments"
		m.Refused = map[string]string{"DEL a b c d": no, "DEL b": no}
		var tasks []*Task
		for _, key := range []string{"a", "b", "c", "d"} {
			m.puts(key, "t 1/2 500 20 1000")
			task := m.releases()
			task.Effects[0].Key, task.Effects[0].Token = key, "t"
			tasks = append(tasks, &task)
		}
		results := m.asks(tasks...)
		for i, task := range tasks {
			key, want, voted, code := task.Key(), "", vote.Released, ""
			if key == "b" {
				want, voted, code = "t 1/2 500 20 1000", vote.Silent, "NOPERM"
			}
			r := results[i]
			if got := m.has(key); got != want || r.Ballot.Vote != voted || r.Code != code {
				t.Errorf("%s has become %q and %v %q, want %q and %v %q", key, got, r.Ballot.Vote, r.Code, want, voted, code)
			}
		}
	})
}

// V13: what must keep its TTL makes no copy without an end of one that has none.
func TestV13KeepsNoEndlessCopy(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		m.Put(0, "k", fakeredis.Entry{Value: "t"})
		e := Effect{Key: "k", Meets: Token, Token: "t", Does: Keeps, New: "u"}
		m.asks(&Task{Kind: vote.Transact, Copies: []Copy{m.gives(7)}, Effects: []Effect{e}})
		if got := m.has("k"); got != "u 7/9 1000 50 2000" {
			t.Errorf("it has become %q", got)
		}
	})
}

// ids are those of a copy as they stand in its tail.
func ids(lock, attempt tail.ID) string {
	its := tail.Tail{Lock: lock, Attempt: attempt}
	return its.IDs()
}
