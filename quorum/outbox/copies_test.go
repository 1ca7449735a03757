package outbox

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// master is a server that is asked by batches. The test writes its copies as "token lock/attempt
// end grace expiry", the times in milliseconds from now on, and "token - expiry" for a bare token.
type master struct {
	*fakeredis.Server
	dialect Dialect
	now     int64
}

// onMaster calls test with a master of each kind that scripts differ for.
func onMaster(t *testing.T, test func(*testing.T, *master)) {
	for _, version := range []string{"6.2.14", "7.2.4"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakeredis.NewServer(fakeredis.NewWorld(), "a", version, nil)
				defer s.Dispose()
				wire := fakeredis.NewWire(s, nil)
				client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"a:1"}, ForceSingleClient: true, DisableCache: true,
					DisableRetry: true, PipelineMultiplex: -1, ClientSetInfo: rueidis.DisableClientSetInfo,
					DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { return wire.Dial() }})
				if err != nil {
					t.Fatal(err)
				}
				m := &master{s, NewDialect(), s.Millis()}
				m.dialect.Client, m.dialect.Is7 = client, version > "7"
				test(t, m)
				client.Close()
				synctest.Wait()
			})
		})
	}
}

// puts gives the key the copy.
func (m *master) puts(key, copy string) {
	m.Del(0, key)
	f := strings.Fields(copy)
	if len(f) == 0 {
		return
	}
	var its tail.Tail
	var left, grace int64
	value := unquoted(f[0])
	if f[1] == "-" {
		_, _ = fmt.Sscan(f[2], &left)
	} else {
		_, _ = fmt.Sscanf(strings.Join(f[1:], " "), "%d/%d %d %d %d", &its.Lock, &its.Attempt, &its.End, &grace, &left)
		its.End, its.Grace = m.now+its.End, time.Duration(grace)*time.Millisecond
		value = its.Of(value)
	}
	m.Put(0, key, fakeredis.Entry{Value: value, Expiry: m.now + left})
}

// has returns the copy of the key.
func (m *master) has(key string) string {
	e, there := m.Get(0, key)
	if !there {
		return ""
	}
	left := e.Expiry - m.now
	if e.Expiry == 0 {
		left = -1
	}
	token, its := tail.Split(e.Value)
	if its.Bare() {
		return fmt.Sprintf("%s - %d", quoted(token), left)
	}
	return fmt.Sprintf("%s %d/%d %d %d %d", quoted(token), its.Lock, its.Attempt, its.End-m.now, its.Grace.Milliseconds(), left)
}

// quoted writes a token that ends like a tail as "tailed".
func quoted(token string) string {
	if token == tailed {
		return "tailed"
	}
	return token
}

func unquoted(token string) string {
	if token == "tailed" {
		return tailed
	}
	return token
}

// tailed is a token that ends like the copy that a try of its own has created.
var tailed = (&tail.Tail{Lock: 9, Attempt: 9}).Of("t")

// does returns a task whose attempt, 9, gives copies of this lock.
func (m *master) does(kind vote.Kind, lock tail.ID, e Effect) Task {
	return Task{Kind: kind, Effects: []Effect{e}, Copies: []Copy{m.gives(lock)}}
}

// asks sends tasks in one batch, and returns their votes. What changes something and has no
// deadline gets one that it meets.
func (m *master) asks(tasks ...*Task) []Result {
	for _, t := range tasks {
		if t.Kind != vote.Release {
			t.Deadline = cmp.Or(t.Deadline, m.now+1000)
		}
	}
	b := &Batch{Tasks: tasks}
	results := b.Read(&m.dialect, m.dialect.Client.DoMulti(context.Background(), m.dialect.Commands(b)...))
	for i, t := range b.Tasks {
		results[i].Weigh(t, vote.Full, m.Millis())
	}
	return results
}

// gives returns what attempt 9 stores: until 1000, the copy until 2000.
func (m *master) gives(lock tail.ID) Copy {
	return Copy{tail.Tail{Lock: lock, Attempt: 9, End: m.now + 1000, Grace: 50 * time.Millisecond}, m.now + 2000}
}

// copyCase is a task that meets a copy, and what becomes of that.
type copyCase struct {
	name         string
	task         Task
	before, want string
	vote         vote.Vote
}

func checkCopies(t *testing.T, cases func(*master) []copyCase) {
	onMaster(t, func(t *testing.T, m *master) {
		for _, c := range cases(m) {
			for _, token := range []string{"t", "tailed"} {
				if token != "t" && strings.Contains(c.before+c.want, "-") {
					continue // bare tokens that end like a tail are taken for one
				}
				named := strings.NewReplacer("t ", token+" ")
				before, want := named.Replace(c.before), named.Replace(c.want)
				m.puts("k", before)
				task := c.task
				e := task.Effects[0]
				e.Key, e.Token = "k", unquoted(token)
				e.New = cmp.Or(e.New, e.Token)
				task.Effects = []Effect{e}
				r := m.asks(&task)[0]
				if got := m.has("k"); got != want || r.Ballot.Vote != c.vote {
					t.Errorf("%s: %q became %q and %v, want %q and %v", c.name, before, got, r.Ballot.Vote, want, c.vote)
				}
			}
		}
	})
}

// V6: a rollback deletes what its try has created, and nobody got since.
func TestV6RollbackDeletesItsOwn(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		undo := m.does(vote.Acquire, 9, Effect{Meets: Those, Whose: ids(9, 9), Does: Deletes})
		undo.MustDeliver = true
		return []copyCase{
			{"its own", undo, "t 9/9 1000 50 2000", "", vote.Released},
			{"extended since", undo, "t 9/8 1000 50 2000", "t 9/8 1000 50 2000", vote.Absent},
			{"prolonged, or stored over", undo, "t 8/9 1000 50 2000", "t 8/9 1000 50 2000", vote.Absent},
			{"another try's", undo, "t 8/8 1000 50 2000", "t 8/8 1000 50 2000", vote.Absent},
			{"a bare token", undo, "t - 2000", "t - 2000", vote.Absent},
			{"gone", undo, "", "", vote.Absent},
		}
	})
}

// V6: what gives a copy to an attempt keeps its lock, and the later of each: expiry, end, grace. V11:
// a bare token stays bare.
func TestV6CopiesAreGivenToAnAttempt(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		take := m.does(vote.AcquireOrExtend, 9, Effect{Meets: Free, Does: Raises})
		extend := m.does(vote.Extend, 7, Effect{Meets: Living, Does: Raises})
		keep := m.does(vote.Extend, 7, Effect{Meets: Living, Does: Keeps})
		expire := m.does(vote.Expire, 7, Effect{Meets: Present, Does: Sets})
		return []copyCase{
			{"create", take, "", "t 9/9 1000 50 2000", vote.Created},
			{"create or prolong", take, "t 1/1 500 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"create or prolong what lasts longer", take, "t 1/2 5000 90 9000", "t 1/9 5000 90 9000", vote.Longer},
			{"create or prolong a bare token", take, "t - 1000", "t - 2000", vote.Prolonged},
			{"create or prolong a bare token that lasts longer", take, "t - 9000", "t - 9000", vote.Longer},
			{"create over another token", take, "u 1/1 500 20 1000", "u 1/1 500 20 1000", vote.Refused},
			{"create over another bare token", take, "u - 1000", "u - 1000", vote.Refused},
			{"extend", extend, "t 1/1 500 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"the later end of an earlier expiry", extend, "t 1/2 1500 20 1000", "t 1/9 1500 50 2000", vote.Prolonged},
			{"the earlier end of a later expiry", extend, "t 1/2 500 90 9000", "t 1/9 1000 90 9000", vote.Longer},
			{"about as late", extend, "t 1/2 500 20 2100", "t 1/9 1000 50 2100", vote.Prolonged},
			{"extend a bare token", extend, "t - 1000", "t - 2000", vote.Prolonged},
			{"extend nothing", extend, "", "", vote.Absent},
			{"extend another token", extend, "u 1/1 500 20 1000", "u 1/1 500 20 1000", vote.Refused},
			{"tell", keep, "t 1/1 500 20 1000", "t 1/9 500 20 1000", vote.Prolonged},
			{"tell of a bare token", keep, "t - 1000", "t - 1000", vote.Prolonged},
			{"tell of nothing", keep, "", "", vote.Absent},
			{"shorten whatever is there", expire, "u 1/1 5000 90 9000", "u 1/9 1000 50 2000", vote.Prolonged},
			{"shorten a bare token", expire, "t - 9000", "t - 2000", vote.Prolonged},
		}
	})
}

// V2, V6: a renewal prolongs, and a second round shortens, only what the attempt still has.
func TestV6OnlyItsOwn(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		renew := m.does(vote.Extend, 7, Effect{Meets: Own, Whose: tail.ID(9).String(), Does: Raises})
		shorten := m.does(vote.Extend, 7, Effect{Meets: Own, Whose: tail.ID(9).String(), Does: Sets})
		return []copyCase{
			{"renew", renew, "t 9/9 500 20 1000", "t 9/9 1000 50 2000", vote.Prolonged},
			{"renew what was prolonged", renew, "t 1/9 500 20 1000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"renew what lasts longer", renew, "t 1/9 5000 90 9000", "t 1/9 5000 90 9000", vote.Longer},
			{"renew another attempt's", renew, "t 9/8 500 20 1000", "t 9/8 500 20 1000", vote.Refused},
			{"renew another token", renew, "u 9/9 500 20 1000", "u 9/9 500 20 1000", vote.Refused},
			{"renew a bare token", renew, "t - 1000", "t - 2000", vote.Prolonged},
			{"renew nothing", renew, "", "", vote.Absent},
			{"shorten", shorten, "t 1/9 5000 90 9000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"shorten another attempt's", shorten, "t 9/8 5000 90 9000", "t 9/8 5000 90 9000", vote.Refused},
			{"shorten what is over", shorten, "t 1/9 -21 20 3000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"shorten nothing", shorten, "", "", vote.Absent},
		}
	})
}

// V6: what is stored over a copy has the lock given, which is not its attempt; where the token stays
// the same the copy keeps its lock.
func TestV6StoresOver(t *testing.T) {
	checkCopies(t, func(m *master) []copyCase {
		change := func(token string, does Does) Task {
			return m.does(vote.Extend, 7, Effect{Meets: Living, Does: does, New: token})
		}
		store := func(meets Meets) Task { return m.does(vote.Store, 7, Effect{Meets: meets, Does: Stores, New: "u"}) }
		return []copyCase{
			{"change", change("u", Sets), "t 1/1 5000 90 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"change and raise", change("u", Raises), "t 1/1 5000 90 9000", "u 7/9 5000 90 9000", vote.Longer},
			{"change and keep", change("u", Keeps), "t 1/1 500 20 1000", "u 7/9 500 20 1000", vote.Prolonged},
			{"change a bare token", change("u", Sets), "t - 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"change to the same", change("", Sets), "t 1/1 5000 90 9000", "t 1/9 1000 50 2000", vote.Prolonged},
			{"change another token", change("v", Sets), "u 1/1 500 20 1000", "u 1/1 500 20 1000", vote.Refused},
			{"store", store(Anything), "t 1/1 5000 90 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"store where nothing is", store(Anything), "", "u 7/9 1000 50 2000", vote.Created},
			{"store if present", store(Present), "t - 9000", "u 7/9 1000 50 2000", vote.Prolonged},
			{"store if nothing is present", store(Present), "", "", vote.Absent},
		}
	})
}
