package outbox

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// V8: a repeat is for the copies that the operation has met, and for these locks as they were
// created; not for what was extended since, or has the token only.
func TestV8RepeatsWhatWasMet(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		met := []tail.Pair{{Lock: 5, Attempt: 6}, {Lock: 1, Attempt: 2}}
		again := Task{Kind: vote.Release, Then: Repeats, Missed: &Missed{Met: met}}
		change := Task{Kind: vote.Extend, Then: Repeats, Missed: &Missed{Met: met}, Copy: m.gives(7), Token: "u"}
		keep := change
		keep.Missed = &Missed{Met: met, Keeps: true}
		return []copyCase{
			{"delete what was met", again, "t 1/2 1000 50 2000", "", vote.Created},
			{"delete it as it was created", again, "t 1/1 1000 50 2000", "", vote.Created},
			{"delete what was extended since", again, "t 1/3 1000 50 2000", "t 1/3 1000 50 2000", vote.Absent},
			{"delete another lock", again, "t 3/3 1000 50 2000", "t 3/3 1000 50 2000", vote.Absent},
			{"delete another lock of its attempt", again, "t 3/2 1000 50 2000", "t 3/2 1000 50 2000", vote.Absent},
			{"delete a mix", again, "t 1/6 1000 50 2000", "t 1/6 1000 50 2000", vote.Absent},
			{"delete a bare token", again, "t - 2000", "t - 2000", vote.Absent},
			{"delete nothing", again, "", "", vote.Absent},
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
		heal := Task{Kind: vote.Extend, Then: Heals, Copy: m.gives(1)}
		release, remove := Task{Kind: vote.Release}, Task{Kind: vote.Remove}
		until := Task{Kind: vote.Release, Deadline: m.now + 1000}
		return []copyCase{
			{"heal", heal, "", "t 1/9 1000 50 2000", vote.Created},
			{"heal what is there", heal, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Absent},
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
		seen := Asked{Locks: tail.ID(3).String() + tail.ID(1).String()}
		extend, release := Task{Kind: vote.Extend, Copy: m.gives(7), Asked: &seen}, Task{Kind: vote.Release, Asked: &seen}
		return []copyCase{
			{"extend", extend, "t 1/2 500 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"extend another lock", extend, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"extend a bare token", extend, "t - 1000", "t - 2000", vote.Prolonged},
			{"release", release, "t 3/2 500 20 1000", "", vote.Released},
			{"release another lock", release, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"release a bare token", release, "t - 1000", "", vote.Released},
		}
	})
}

// V6, S4: what a transaction does to each key, and that it does nothing where one is not as expected.
func TestV6TransactionsGiveCopies(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		exists := Step{Exists: true, Was: "t", Does: Stores, Token: "t"}
		change, raise, keep, same, deletes := exists, exists, exists, exists, exists
		change.Token, raise.Raises, keep.Keeps, deletes.Does = "u", true, true, Deletes
		raiseTo, keepTo, reads, seen, bare := raise, keep, exists, exists, raise
		raiseTo.Token, keepTo.Token, reads.Does, seen.Locks = "u", "u", Keeps, tail.ID(1).String()
		for _, c := range []struct {
			name         string
			step         Step
			lock         tail.ID
			before, want string
			vote         vote.Vote
		}{
			{"create", Step{Does: Stores, Token: "t"}, 9, "", "t 9/9 1000 50 2000", vote.Created},
			{"create where it is", Step{Does: Stores, Token: "t"}, 9, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Refused},
			{"change", change, 7, "t 1/1 5000 90 9000", "u 7/9 1000 50 2000", vote.Created},
			{"store the same", same, 7, "t 1/1 5000 90 9000", "t 7/9 1000 50 2000", vote.Created},
			{"raise", raise, 7, "t 1/1 500 90 1000", "t 1/9 1000 90 2000", vote.Created},
			{"raise what lasts longer", raise, 7, "t 1/1 5000 20 9000", "t 1/9 5000 50 9000", vote.Created},
			{"raise and change", raiseTo, 7, "t 1/1 5000 20 9000", "u 7/9 5000 50 9000", vote.Created},
			{"raise a bare token", bare, 7, "t - 1000", "t - 2000", vote.Created},
			{"keep", keep, 7, "t 1/1 500 20 1000", "t 1/9 500 20 1000", vote.Created},
			{"keep and change", keepTo, 7, "t 1/1 500 20 1000", "u 7/9 500 20 1000", vote.Created},
			{"delete", deletes, 7, "t 1/1 500 20 1000", "", vote.Created},
			{"delete another token", deletes, 7, "u 1/1 500 20 1000", "u 1/1 500 20 1000", vote.Refused},
			{"delete nothing", deletes, 7, "", "", vote.Absent},
			{"make sure", reads, 7, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Created},
			{"a lock that was seen", seen, 7, "t 1/1 500 20 1000", "t 7/9 1000 50 2000", vote.Created},
			{"another lock", seen, 7, "t 2/1 500 20 1000", "t 2/1 500 20 1000", vote.Refused},
			{"a bare token", seen, 7, "t - 1000", "t 7/9 1000 50 2000", vote.Created},
		} {
			m.puts("k", c.before)
			m.puts("l", "v 4/5 500 20 1000")
			c.step.Key = "k"
			steps := []Step{{Key: "l", Exists: true, Was: "v", Does: Deletes}, c.step}
			r := m.asks(&Task{Kind: vote.Transact, Key: "l", Copies: []Copy{{}, m.gives(c.lock)}, Asked: &Asked{Steps: steps}})[0]
			if got := m.has("k"); got != c.want || r.Ballot.Vote != c.vote {
				t.Errorf("%s: %q became %q and %v, want %q and %v", c.name, c.before, got, r.Ballot.Vote, c.want, c.vote)
			}
			if gone := m.has("l") == ""; gone != (c.vote == vote.Created) {
				t.Errorf("%s: the other key is deleted %v", c.name, gone)
			}
			if b := r.Ballot; b.Were != nil && (*b.Were)[0].Pair() != (tail.Pair{Lock: 4, Attempt: 5}) {
				t.Errorf("%s: it says of the other key that it was %+v", c.name, b.Were)
			}
		}
	})
}

// V8: what was met is told by its lock and attempt.
func TestV8TellsWhatItMet(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		for _, task := range []Task{
			{Kind: vote.Release}, {Kind: vote.Release, Deadline: m.now + 1000}, {Kind: vote.Remove}, {Kind: vote.Read},
			{Kind: vote.AcquireOrExtend, Copy: m.gives(9)}, {Kind: vote.Extend, Copy: m.gives(7), Asked: &Asked{}},
			{Kind: vote.Extend, Copy: m.gives(7), Asked: &Asked{Replace: true, NewToken: "u"}},
		} {
			for _, till := range []string{"1000", "9000"} {
				m.puts("k", "t 1/2 500 20 "+till)
				task.Key, task.Token = "k", "t"
				if b := m.asks(&task)[0].Ballot; b.Tail.Pair() != (tail.Pair{Lock: 1, Attempt: 2}) || b.Tail.End != m.now+500 {
					t.Errorf("%v until %s tells of %+v", task.Kind, till, b)
				}
			}
		}
	})
}

// V15: a copy is over by its attempt and end, or by its expiry.
func TestV15OverByAttemptAndEnd(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		over := Limits{Any: m.now + 100, Attempt: 8, End: m.now + 500}
		take := Task{Kind: vote.AcquireOrExtend, Copy: m.gives(9), Limits: &over}
		extend := Task{Kind: vote.Extend, Copy: m.gives(7), Asked: &Asked{}, Limits: &over}
		release := Task{Kind: vote.Release, Limits: &over}
		clear := Task{Kind: vote.Extend, Clears: true, Limits: &over}
		return []copyCase{
			{"take", take, "t 1/8 500 20 1000", "t 9/9 1000 50 2000", vote.Created},
			{"take what was told to last longer", take, "t 1/8 501 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"take another attempt's", take, "t 8/1 500 20 1000", "t 8/9 1000 50 2000", vote.Prolonged},
			{"take what ends soon", take, "t 1/1 500 20 99", "t 9/9 1000 50 2000", vote.Created},
			{"extend", extend, "t 1/8 499 20 1000", "", vote.Absent},
			{"extend what was told to last longer", extend, "t 1/8 501 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"extend a bare token that ends soon", extend, "t - 99", "", vote.Absent},
			{"extend a bare token", extend, "t - 101", "t - 2000", vote.Prolonged},
			{"release", release, "t 1/8 500 20 1000", "", vote.Absent},
			{"release what was told to last longer", release, "t 1/8 501 20 1000", "", vote.Released},
			{"clear", clear, "t 1/8 500 20 1000", "", vote.Absent},
			{"clear what was told to last longer", clear, "t 1/8 501 20 1000", "t 1/8 501 20 1000", vote.Absent},
		}
	})
}

// M2: a bundle does for each key what the tasks would do alone.
func TestM2BundlesCutAlike(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		over := Limits{Attempt: 8, End: m.now + 500}
		type item struct {
			task         Task
			before, want string
			vote         vote.Vote
		}
		items := []item{
			{Task{Kind: vote.Acquire, Copy: m.gives(9)}, "", "t 9/9 1000 50 2000", vote.Created},
			{Task{Kind: vote.Acquire, Copy: m.gives(9)}, "t 1/1 500 20 1000", "t 1/1 500 20 1000", vote.Refused},
			{Task{Kind: vote.Release}, "t 1/2 500 20 1000", "", vote.Released},
			{Task{Kind: vote.Release}, "t - 1000", "", vote.Released},
			{Task{Kind: vote.Release}, "tailed 1/2 500 20 1000", "tailed 1/2 500 20 1000", vote.Refused},
			{Task{Kind: vote.Release}, "u - 1000", "u - 1000", vote.Refused},
			{Task{Kind: vote.Release, Limits: &over}, "t 1/8 500 20 1000", "", vote.Absent},
			{Task{Kind: vote.Release, Limits: &over}, "t 1/8 501 20 1000", "", vote.Released},
		}
		for _, size := range []int{len(items), 1} {
			var results []Result
			var tasks []*Task
			for i, c := range items {
				task := c.task
				task.Key, task.Token = string(rune('a'+i)), "t"
				m.puts(task.Key, c.before)
				tasks = append(tasks, &task)
			}
			for batch := range slices.Chunk(tasks, size) {
				results = append(results, m.asks(batch...)...)
			}
			for i, c := range items {
				key := string(rune('a' + i))
				if got := m.has(key); got != c.want || results[i].Ballot.Vote != c.vote {
					t.Errorf("%d at once: %q became %q and %v, want %q and %v", size, c.before, got, results[i].Ballot.Vote, c.want, c.vote)
				}
			}
		}
	})
}

// V13: what must keep its TTL makes no copy without an end of one that has none.
func TestV13KeepsNoEndlessCopy(t *testing.T) {
	onMaster(t, func(t *testing.T, m *master) {
		its := tail.Tail{Lock: 1, Attempt: 1, End: m.now + 500, Grace: 20 * time.Millisecond}
		m.Put(0, "k", fakeredis.Entry{Value: its.Of("t")})
		step := Step{Key: "k", Exists: true, Was: "t", Does: Stores, Token: "u", Keeps: true}
		m.asks(&Task{Kind: vote.Transact, Key: "k", Copies: []Copy{m.gives(7)}, Asked: &Asked{Steps: []Step{step}}})
		if got := m.has("k"); got != "u 7/9 1000 50 2000" {
			t.Errorf("it has become %q", got)
		}
	})
}
