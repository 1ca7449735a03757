package commands

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// A lock in a hash, in wordings of our own: the holder takes it again, and others are told how
// long it is held.
const (
	takeHash = `
		if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
			return redis.call('pttl', KEYS[1])
		end
		redis.call('hincrby', KEYS[1], ARGV[1], 1)
		redis.call('pexpire', KEYS[1], ARGV[2])
		return false`
	freeHash = `
		if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return false end
		local turns = redis.call('hincrby', KEYS[1], ARGV[1], -1)
		if turns > 0 then
			redis.call('pexpire', KEYS[1], ARGV[2])
			return turns
		end
		redis.call('del', KEYS[1])
		redis.call('publish', KEYS[2], 'free')
		return 0`
	freeHashOnce = `
		local told = redis.call('get', KEYS[2])
		if told then return told end
		local turns = redis.call('hincrby', KEYS[1], ARGV[1], -1)
		redis.call('set', KEYS[2], turns, 'px', 5000)
		if turns == 0 then redis.call('del', KEYS[1]) else redis.call('pexpire', KEYS[1], ARGV[2]) end
		return 'first'`
	renewHashes = `
		local done = {}
		for i, key in ipairs(KEYS) do
			done[i] = redis.call('hexists', key, ARGV[i + 1])
			if done[i] == 1 then redis.call('pexpire', key, ARGV[1]) end
		end
		return done`
)

// hashOf is what the masters store for the hash of one field.
func hashOf(field, value string) string {
	return string(values.HashOf(values.Member{Field: field, Value: value}))
}

func evaluating(body, words string) []string {
	return append([]string{"EVAL", body}, strings.Fields(words)...)
}

// heldBy is what a store holds, as HGETALL tells it.
func (s *store) heldBy(key string) string {
	l := s.locks[key]
	m, _ := values.Hash(l.Token).Only()
	return strings.TrimSpace(m.Field + " " + m.Value)
}

// TestC8SeenIsCompared checks how often the masters are asked: once for what is free, or given back as
// it was seen last, and one read more for what is not, or counts. What was seen is compared with what they have: a count
// that went up through another redlockd is not taken for the one seen here.
func TestC8SeenIsCompared(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	take, free := evaluating(takeHash, "1 k a 10000"), evaluating(freeHash, "2 k channel a 10000")
	for i, tt := range []struct {
		name  string
		first func()
		words []string
		trips int
		reply string
		held  string
	}{
		{"free", nil, take, 1, "null", "a 1"},
		{"held by itself", nil, take, 2, "null", "a 2"},
		{"held by another", nil, evaluating(takeHash, "1 k b 10000"), 1, ":10000", "a 2"},
		{"given back once", nil, free, 2, ":1", "a 1"},
		{"given back", nil, free, 1, ":0", ""},
		{"given back too often", nil, free, 1, "null", ""},
		{"not seen here", func() { s.locks["k"] = found(hashOf("b", "1"), time.Second) }, take, 2, ":1000", "b 1"},
		{"another one has freed it", func() { delete(s.locks, "k") }, take, 2, "null", "a 1"},
		{"counted up elsewhere", func() { s.locks["k"] = found(hashOf("a", "3"), time.Second) }, free, 3, ":2", "a 2"},
		{"taken by another since", func() { s.locks["k"] = found(hashOf("b", "2"), time.Second) }, free, 1, "null", "b 2"},
	} {
		if tt.first != nil {
			tt.first()
		}
		s.trips = 0
		if got := s.ask(t, in, tt.words...); got != tt.reply || s.trips != tt.trips || s.heldBy("k") != tt.held {
			t.Errorf("%d, %s: %s in %d trips, then %q, want %s in %d, %q", i+1, tt.name, got, s.trips, s.heldBy("k"), tt.reply, tt.trips, tt.held)
		}
	}
}

// TestC8LeftIsRead checks that what depends on what is left of the TTL is not derived from what was
// seen last, though it would be the same with the least and the greatest TTL: the lock is read.
func TestC8LeftIsRead(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	s.ask(t, in, evaluating(takeHash, "1 k a 10000")...)
	s.trips = 0
	words := evaluating(`
		local left = redis.call('pttl', KEYS[1])
		if left > 1000 and left < 20000 and redis.call('hexists', KEYS[1], ARGV[1]) == 1 then return left end
		return redis.call('hdel', KEYS[1], ARGV[1])`, "1 k a")
	if got := s.ask(t, in, words...); got != ":10000" || s.trips != 1 || s.heldBy("k") != "a 1" {
		t.Errorf("%s in %d trips, then %q, want :10000 in one, and the lock stays", got, s.trips, s.heldBy("k"))
	}
}

// TestC8HashIsNotShown checks that no command shows a client what the masters store.
func TestC8HashIsNotShown(t *testing.T) {
	in, s := New(lenient(), func() int64 { return fakeNow }), newStore()
	wrong := "-" + errWrongType
	inScript := func(body string) []string { return evaluating("return redis.call("+body+")", "1 k") }
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{strings.Fields("GET k"), wrong}, {strings.Fields("STRLEN k"), wrong}, {strings.Fields("DIGEST k"), wrong}, {strings.Fields("GETSET k t"), wrong},
		{strings.Fields("GETDEL k"), wrong}, {strings.Fields("GETEX k"), wrong}, {strings.Fields("GETEX k PX 9"), wrong}, {strings.Fields("MGET k none"), "[null null]"},
		{strings.Fields("SET k t GET PX 9"), wrong}, {strings.Fields("SET k t NX GET PX 9"), wrong}, {strings.Fields("SET k t IFEQ u PX 9"), wrong},
		{strings.Fields("SET k t IFNE u PX 9"), wrong}, {strings.Fields("SET k t IFDNE 0123456789abcdef GET PX 9"), wrong}, {strings.Fields("SET k t NX PX 9"), "null"},
		{strings.Fields("DELEX k IFEQ u"), wrong}, {strings.Fields("DELEX k IFNE u"), wrong}, {strings.Fields("DELIFEQ k u"), wrong},
		{strings.Fields("TYPE k"), "+hash"}, {strings.Fields("EXISTS k"), ":1"}, {strings.Fields("HGETALL k"), "[$a $1]"},
		{inScript("'getrange', KEYS[1], 0, 99"), wrong + " script: "}, {inScript("'mget', KEYS[1]"), "[null]"}, {inScript("'hgetall', KEYS[1]"), "[$a $1]"},
		{evaluating(deleteOurs, "1 k t"), wrong + " script: "}, {evaluating(expireOurs, "1 k t 99"), wrong + " script: "}, {evaluating(takeFree, "1 k t 99"), ":0"},
		{evaluating(takeUntil, "1 k t 99"), wrong + " script: "}, {evaluating(prefixed, "1 k t"), wrong + " script: "},
	} {
		s.locks["k"] = found(hashOf("a", "1"), time.Second)
		got := s.ask(t, in, tt.words...)
		if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) || s.heldBy("k") != "a 1" {
			t.Errorf("%s: got %s and %q, want %s", tt.words, got, s.heldBy("k"), tt.want)
		}
	}
}

// TestC8FormIsRefused checks that no client stores or compares a string of the form in which
// hashes are stored: it could make or take a lock of any holder.
func TestC8FormIsRefused(t *testing.T) {
	in, s := New(lenient(), func() int64 { return fakeNow }), newStore()
	own := hashOf("a", "1")
	for _, words := range [][]string{
		{"SET", "k", own, "NX", "PX", "9"}, {"SET", "k", own, "PX", "9"}, {"SET", "k", own, "KEEPTTL"}, {"SET", "k", "t", "IFEQ", own, "PX", "9"}, {"SETNX", "k", own}, {"GETSET", "k", own}, {"MSETNX", "k", own},
		{"PSETEX", "k", "9", own}, {"DELEX", "k", "IFEQ", own}, {"DELIFEQ", "k", own}, {"EVAL", deleteOurs, "1", "k", own}, {"EVAL", takeFree, "1", "k", own, "9"},
		{"EVAL", `return redis.call('set', KEYS[1], '\0redlock' .. ARGV[1], 'px', 9)`, "1", "k", own[len("\x00redlock"):]},
	} {
		s.locks["held"] = found(own, time.Second)
		for _, key := range []string{"k", "held"} {
			args := append([]string{}, words...)
			for i := range args {
				if args[i] == "k" {
					args[i] = key
				}
			}
			got := s.ask(t, in, args...)
			if spared := key == "held" && got == ":0"; !strings.HasPrefix(got, "-") && !spared || s.locks["k"].Found || s.locks["held"].Token != own {
				t.Errorf("%q: %s", args, got)
			}
		}
	}
}

// TestHashBounds checks what of a hash is refused, and that nothing is done then.
func TestHashBounds(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	in.Limit(100, 100)
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{strings.Fields("HSET n a 1"), "-" + errNoExpiry},
		{strings.Fields("HINCRBY n a 1"), "-" + errNoExpiry},
		{evaluating(`return redis.call('hset', KEYS[1], 'a', 1)`, "1 n"), "-" + errNoExpiry},
		{strings.Fields("HSET k b 1"), "-ERR 'hset' cannot be carried out: it leaves more than one field in the hash \"k\": redlockd keeps hashes of one holder, not those of read/write locks and rate limiters"},
		{evaluating(`redis.call('hset', KEYS[1], 'mode', 'read', 'a', 1) return redis.call('pexpire', KEYS[1], 9)`, "1 n"),
			"-ERR This script is not a lock script: it leaves more than one field in the hash \"n\": redlockd keeps hashes of one holder, not those of read/write locks and rate limiters"},
		{[]string{"HSET", "k", "a", strings.Repeat("x", 100)}, "-" + errLongToken},
	} {
		s.locks["k"] = found(hashOf("a", "1"), time.Second)
		if got := s.ask(t, in, tt.words...); got != tt.want || s.heldBy("k") != "a 1" || s.locks["n"].Found {
			t.Errorf("%s: %s, then %q, want %s", tt.words, got, s.heldBy("k"), tt.want)
		}
	}
}

// TestV15HashOver checks that a count does not outlive its TTL: who has the lock's copies takes
// it anew, once, and others wait until these have ended (V15).
func TestV15HashOver(t *testing.T) {
	over := quorum.State{Lapsed: true, Token: hashOf("a", "2"), TTL: 300 * time.Millisecond}
	for _, tt := range []struct {
		words     []string
		op, reply string
	}{
		{evaluating(takeHash, "1 k a 9000"), "extend k " + over.Token + "->" + hashOf("a", "1") + " 9s", "null"},
		{evaluating(takeHash, "1 k b 9000"), "read k", ":300"},
		{evaluating(freeHash, "2 k c a 9000"), "read k", "null"},
		{strings.Fields("HGET k a"), "read k", "null"},
	} {
		in := New(rejecting(), func() int64 { return fakeNow })
		words := make([][]byte, len(tt.words))
		for i, w := range tt.words {
			words[i] = []byte(w)
		}
		req, _ := in.Understand(3, words)
		if op, reply := decideOn(t, req, over, quorum.Won); op != tt.op || reply != tt.reply {
			t.Errorf("%s: %s, %s, want %s, %s", tt.words, op, reply, tt.op, tt.reply)
		}
	}
}

// TestHashRights checks that who names a hash's field in its words is its holder, and nobody else.
func TestHashRights(t *testing.T) {
	const own, latch = MayAcquire | MayExtend | MayRelease | MayRead, "redisson_unlock_latch:{x}:1"
	noEval := noCommand("eval")
	for _, tt := range []struct {
		words  []string
		rights Operations
		reply  string
		held   string
	}{
		{evaluating(takeHash, "1 my a 9000"), own, "null", "a 2"},
		{evaluating(freeHash, "2 my my-channel a 9000"), own, ":0", ""},
		{evaluating(takeHash, "1 my a 9000"), own &^ MayExtend, noEval, "a 1"},
		{evaluating(freeHash, "2 my my-channel a 9000"), own &^ MayRelease, noEval, "a 1"},
		{evaluating(freeHash, "2 my other a 9000"), own, noChannel, "a 1"},
		{evaluating(`return redis.call('hdel', KEYS[1], redis.call('hkeys', KEYS[1])[1] or 'x')`, "1 my b"), own, noEval, "a 1"},
		{evaluating(`return redis.call('pexpire', KEYS[1], 99)`, "1 my b"), own, noEval, "a 1"},
		{evaluating(renewHashes, "2 my my2 900 b a"), own, "[:0 :0]", "a 1"},
		{evaluating(renewHashes, "2 my my2 900 a a"), own, "[:1 :0]", "a 1"},
		{strings.Fields("HDEL my a"), MayRelease, ":1", ""},
		{strings.Fields("HGETALL my"), own &^ MayRead, noCommand("hgetall"), "a 1"},
		{strings.Fields("DEL my"), own, noCommand("del"), "a 1"},
		{strings.Fields("DEL " + latch), MayAcquire, ":0", "a 1"},
	} {
		s := newStore()
		s.locks["my"] = found(hashOf("a", "1"), time.Second)
		if got := s.ask(t, narrowed(fakeRights(tt.rights)), tt.words...); got != tt.reply || s.heldBy("my") != tt.held {
			t.Errorf("%s with %v: %s, then %q, want %s, %q", tt.words, tt.rights.Names(), got, s.heldBy("my"), tt.reply, tt.held)
		}
	}
}

// TestC8ProlongsEach checks that what only prolongs several keys is done key by key: where one cannot
// be decided on, the reply is the error, and the others are prolonged all the same. What depends
// on several keys is done to all or none.
func TestC8ProlongsEach(t *testing.T) {
	const both = `
		for i, key in ipairs(KEYS) do if redis.call('hexists', key, ARGV[i + 1]) == 0 then return 0 end end
		for _, key in ipairs(KEYS) do redis.call('pexpire', key, ARGV[1]) end
		return #KEYS`
	unknown := errors.New("NOQUORUM")
	for _, tt := range []struct {
		name, body string
		a, b       string
		fails      string
		reply      string
		ttls       string
	}{
		{"all", renewHashes, "x", "y", "", "[:1 :1 :0]", "9s 9s"},
		{"one is another's", renewHashes, "x", "z", "", "[:1 :0 :0]", "9s 1s"},
		{"one is not decided", renewHashes, "x", "y", "a", "-NOQUORUM", "1s 9s"},
		{"another one is not decided", renewHashes, "x", "y", "c", "-NOQUORUM", "9s 9s"},
		{"all or none", both, "x", "y", "", ":0", "1s 1s"},
	} {
		for _, seen := range []bool{false, true} {
			in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
			words := evaluating(tt.body, "3 a b c 9000 x y w")
			if seen { // here, so that no key is read before
				s.ask(t, in, evaluating(takeHash, "1 a "+tt.a+" 1000")...)
				s.ask(t, in, evaluating(takeHash, "1 b "+tt.b+" 1000")...)
				s.ask(t, in, words...) // the second call of a script is not understood anew
			}
			s.locks["a"], s.locks["b"] = found(hashOf(tt.a, "1"), time.Second), found(hashOf(tt.b, "1"), time.Second)
			s.fails = map[string]error{tt.fails: unknown}
			reply := s.ask(t, in, words...)
			if ttls := fmt.Sprint(s.locks["a"].TTL, s.locks["b"].TTL); reply != tt.reply || ttls[:2]+" "+ttls[len(ttls)-2:] != tt.ttls {
				t.Errorf("%s, seen here %v: %s and %s, want %s and %s", tt.name, seen, reply, ttls, tt.reply, tt.ttls)
			}
		}
	}
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	s.locks["a"], s.locks["b"] = found(hashOf("x", "1"), time.Second), found(hashOf("y", "1"), time.Second)
	if got := s.ask(t, in, evaluating(both, "2 a b 9000 x y")...); got != ":2" || s.locks["a"].TTL != 9*time.Second || s.locks["b"].TTL != 9*time.Second {
		t.Errorf("all of all or none: %s, %v and %v", got, s.locks["a"].TTL, s.locks["b"].TTL)
	}
}

// TestManyHashes checks the bounds of one script: 128 keys and 512 inputs.
func TestManyHashes(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	renew := func(n, extra int) string {
		words := []string{"EVAL", renewHashes, fmt.Sprint(n)}
		for i := range n {
			words = append(words, fmt.Sprint("k", i))
			s.locks[fmt.Sprint("k", i)] = found(hashOf(fmt.Sprint("a", i), "1"), time.Second)
		}
		words = append(words, "9000")
		for i := range n + extra {
			words = append(words, fmt.Sprint("a", i))
		}
		return s.ask(t, in, words...)
	}
	want := "[" + strings.TrimSpace(strings.Repeat(":1 ", 128)) + "]"
	if got := renew(128, 512-2*128-1); got != want || s.locks["k127"].TTL != 9*time.Second {
		t.Errorf("128 keys: %s, %v", got, s.locks["k127"])
	}
	if got := renew(129, 0); !strings.Contains(got, "uses more than 128 keys") || s.locks["k0"].TTL != time.Second {
		t.Errorf("129 keys: %s", got)
	}
	if got := renew(2, 510); !strings.Contains(got, "more than 512 keys and arguments") {
		t.Errorf("515 inputs: %s", got)
	}
}

// TestLatch checks that a release which is sent again is answered as it was, and changes nothing;
// until its time is over, and as long as nobody deletes it.
func TestLatch(t *testing.T) {
	now := int64(fakeNow)
	in, s := New(rejecting(), func() int64 { return now }), newStore()
	const latch = "redisson_unlock_latch:{k}:1"
	release := evaluating(freeHashOnce, "2 k "+latch+" a 9000")
	for i, tt := range []struct {
		words       []string
		reply, held string
		later       int64
	}{
		{release, "$first", "a 2", 0}, {release, "$2", "a 2", 0}, {release, "$2", "a 2", 4000},
		{release, "$first", "a 1", 1001}, {[]string{"DEL", latch, latch}, ":1", "a 1", 0}, {release, "$first", "", 0}, {release, "$0", "", 0},
		{evaluating(`redis.call('set', KEYS[1], 1, 'px', 9) return redis.call('hlen', 'k')`, "1 "+latch), ":0", "", 0},
	} {
		if i == 0 {
			s.locks["k"] = found(hashOf("a", "3"), time.Minute)
		}
		now += tt.later
		if got := s.ask(t, in, tt.words...); got != tt.reply || s.heldBy("k") != tt.held {
			t.Errorf("%d: %s, then %q, want %s, %q", i+1, got, s.heldBy("k"), tt.reply, tt.held)
		}
	}
	if s.locks[latch].Found {
		t.Error("the latch is on the masters")
	}
	// Nothing was carried out, so nothing is kept.
	s.locks["k"] = found(hashOf("a", "3"), time.Minute)
	s.fails = map[string]error{"k": errors.New("NOQUORUM")}
	release = evaluating(freeHashOnce, "2 k redisson_unlock_latch:{k}:2 a 9000")
	if got := s.ask(t, in, release...); got != "-NOQUORUM" {
		t.Errorf("not decided: %s", got)
	}
	s.fails = nil
	words := make([][]byte, len(release))
	for i := range words {
		words[i] = []byte(release[i])
	}
	req, _ := in.Understand(3, words)
	req.Ops[0].Decide(s.locks["k"])
	req.Notices([]*quorum.Outcome{{Err: errors.New("NOQUORUM")}})
	if got := s.ask(t, in, release...); got != "$first" {
		t.Errorf("after that: %s", got)
	}
}

// TestHashesInRESP3 checks that only HGETALL outside of scripts is a map.
func TestHashesInRESP3(t *testing.T) {
	in, s := New(rejecting(), func() int64 { return fakeNow }), newStore()
	s.locks["k"] = found(hashOf("a", "1"), time.Second)
	for command, kind := range map[string]resp.Kind{"HGETALL k": resp.KindMap, "HKEYS k": resp.KindArray, "HGETALL none": resp.KindMap} {
		req := understand(t, in, command)
		if r := req.Reply([]*quorum.Outcome{s.do(req.Ops[0])}); r.Kind != kind {
			t.Errorf("%s: %+v", command, r)
		}
	}
}
