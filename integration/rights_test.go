package integration

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const mastersUser = "redlockd"

// TestRightsOfTheDocs gives redlockd the rights of docs/acl.md on its masters,
// has it do what it does, and none of it is refused; and each right that is
// taken away is named in redlockd's log, or keeps the master from voting.
func TestRightsOfTheDocs(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	line := docsLine(t, masters[0])
	for _, m := range masters {
		permit(t, m, line...)
	}
	cfg := overFive(masters)
	cfg.MasterUser, cfg.MasterPassword = mastersUser, "SECRET"
	r := StartRedlockd(t, cfg, masters)
	useAll(t, r, masters)
	second := JoinRedlockd(t, cfg)
	second.WaitVoting(masters...)
	for _, m := range masters {
		if denied, err := m.Client.Do(context.Background(), "ACL", "LOG").Slice(); err != nil || len(denied) > 0 {
			t.Errorf("a master denied %v, %v", denied, err)
		}
		if list := m.Client.ClientList(context.Background()).Val(); !strings.Contains(list, " name=redlockd ") {
			t.Errorf("redlockd has no name there, by which others know it:\n%s", list)
		}
	}
	second.Stop()
	for _, right := range line {
		name, ok := strings.CutPrefix(right, "+")
		if !ok || name == "hello" || name == "auth" || name == "select" {
			continue // the first two are everybody's; database 0 needs no SELECT
		}
		t.Run(name, func(t *testing.T) { wantNamed(t, r, masters[0], line, name) })
	}
}

// TestNarrowedRightsOfTheDocs gives redlockd the keys only to which docs/acl.md
// narrows its rights: it takes locks, and changes its list of masters. Without the key
// for that, its log names it.
func TestNarrowedRightsOfTheDocs(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 4)
	line := docsLine(t, masters[0])
	text, err := os.ReadFile("../docs/acl.md")
	keys := regexp.MustCompile("`(~lock:[^`]*)`").FindSubmatch(text)
	if err != nil || keys == nil {
		t.Fatalf("docs/acl.md narrows nothing, %v", err)
	}
	all := strings.Fields(string(keys[1]))
	at := slices.Index(line, "~*")
	for _, m := range masters {
		permit(t, m, slices.Concat(line[:at], all[:len(all)-1], []string{"~probe:*"}, line[at+1:])...)
	}
	cfg := overFive(masters[:3])
	cfg.MasterUser, cfg.MasterPassword = mastersUser, "SECRET"
	r := StartRedlockd(t, cfg, masters[:3])
	eventually(t, "redlockd names the key", func() (bool, string) {
		return strings.Count(r.Log(), "lacks=~redlockd:change") == 3, r.Log()
	})
	for _, m := range masters {
		permit(t, m, "ACL", "SETUSER", mastersUser, all[len(all)-1])
	}
	if err := r.Client().SetNX(context.Background(), "lock:a", "me", time.Minute).Err(); err != nil {
		t.Error(err)
	}
	releaseBesideForbidden(t, r)
	cfg.Masters[2], cfg.Names = masters[3].Addr, []string{"a", "b", "d"}
	r.Reload(cfg)
	eventually(t, "the change begins", func() (bool, string) {
		return r.Info("masters_phase") != "final", r.Log()
	})
}

// releaseBesideForbidden releases locks in one pipeline with a key to which the user has no right.
func releaseBesideForbidden(t *testing.T, r *Redlockd) {
	t.Helper()
	ctx, pipe := context.Background(), r.Client().Pipeline()
	for i := range 8 {
		pipe.SetNX(ctx, fmt.Sprint("lock:", i), "me", time.Minute)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Error(err)
	}
	pipe = r.Client().Pipeline()
	forbidden := pipe.Eval(ctx, releaseScript, []string{"forbidden"}, "me")
	for i := range 8 {
		pipe.Eval(ctx, releaseScript, []string{fmt.Sprint("lock:", i)}, "me")
	}
	replies, _ := pipe.Exec(ctx)
	for _, reply := range replies[1:] {
		if n, err := reply.(*redis.Cmd).Int(); n != 1 {
			t.Errorf("a release beside a forbidden key: %d, %v", n, err)
		}
	}
	if err := forbidden.Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("the release of a forbidden key: %v, want NOPERM", err)
	}
}

// docsLine is the line in docs/acl.md that makes the user, for this master.
func docsLine(t *testing.T, m *Master) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/acl.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "ACL SETUSER "+mastersUser+" ") {
			if strings.Contains(m.Client.Info(context.Background(), "server").Val(), "redis_version:6.") {
				line = strings.Replace(line, " +pexpiretime", "", 1) // as the page says
			}
			return strings.Fields(line)
		}
	}
	t.Fatal("no line in docs/acl.md makes a user")
	return nil
}

func permit(t *testing.T, m *Master, words ...string) {
	t.Helper()
	args := make([]any, len(words))
	for i, w := range words {
		args[i] = w
	}
	if err := m.Client.Do(context.Background(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", words, err)
	}
}

// useAll has redlockd carry out what needs each of the rights.
func useAll(t *testing.T, r *Redlockd, masters []*Master) {
	t.Helper()
	ctx, c := context.Background(), r.Client()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	pipe := c.Pipeline()
	for i := range 50 { // go to the masters as bundles
		pipe.SetNX(ctx, fmt.Sprint("bundle:", i), "me", time.Minute)
	}
	for i := range 50 {
		pipe.Eval(ctx, releaseScript, []string{fmt.Sprint("bundle:", i)}, "me")
	}
	_, err := pipe.Exec(ctx)
	must(err)
	r.wantTake("one")
	must(c.Eval(ctx, extendScript, []string{"one"}, "me", 60000).Err())
	must(c.PExpire(ctx, "one", time.Minute).Err())
	must(c.Get(ctx, "one").Err())
	must(c.DBSize(ctx).Err())
	must(c.Scan(ctx, 0, "*", 10).Err())
	must(c.Do(ctx, "LOCKS", "LIST").Err())
	must(c.Del(ctx, "one").Err())
	other := redis.NewClient(&redis.Options{Addr: r.Addr, DB: 3, MaxRetries: -1})
	defer other.Close()
	must(other.SetNX(ctx, "in database 3", "me", time.Minute).Err())
	useMessages(t, r)
	// A lost attempt is undone.
	for _, m := range masters[:3] {
		must(m.Client.Set(ctx, "theirs", "them", time.Minute).Err())
	}
	if ok, err := c.SetNX(ctx, "theirs", "me", time.Minute).Result(); ok || err != nil {
		t.Errorf("a lock of somebody else's was given: %v, %v", ok, err)
	}
	waitGone(t, masters[3:], "theirs")
	for _, m := range masters { // a new connection fences the old one
		must(m.Client.Do(ctx, "CLIENT", "KILL", "USER", mastersUser).Err())
	}
	eventually(t, "all masters vote again", func() (bool, string) {
		n := r.Metric("redlockd_masters_voting")
		return n == 5 && r.Metric("redlockd_lost_connections_total") > 0, fmt.Sprint(n, " vote")
	})
}

// useMessages has redlockd publish, and subscribe to a channel and a pattern, which it leaves
// some seconds later.
func useMessages(t *testing.T, r *Redlockd) {
	t.Helper()
	w := DialWire(t, r.Addr)
	defer w.Close()
	w.want(t, ":0\r\n", "PUBLISH", "ch", "m")
	w.want(t, subscribed("subscribe", "ch"), "SUBSCRIBE", "ch")
	p := DialWire(t, r.Addr)
	defer p.Close()
	p.want(t, subscribed("psubscribe", "c*"), "PSUBSCRIBE", "c*")
}

// wantNamed takes one right away, and expects redlockd to tell of it.
func wantNamed(t *testing.T, r *Redlockd, m *Master, line []string, right string) {
	t.Helper()
	before, client := len(r.Log()), r.Client()
	// Redis 6.2 takes no -client|id.
	anew := slices.Insert(slices.Clone(line), 3, "reset")
	permit(t, m, slices.DeleteFunc(slices.Clone(anew), func(word string) bool { return word == "+"+right })...)
	if strings.HasSuffix(right, "subscribe") {
		useMessages(t, r)
	}
	permit(t, m, "CLIENT", "KILL", "USER", mastersUser)
	command, _, _ := strings.Cut(right, "|")
	eventually(t, "redlockd tells of "+right, func() (bool, string) {
		if right == "publish" {
			client.Publish(context.Background(), "ch", "m")
		}
		for line := range strings.Lines(r.Log()[before:]) {
			named := strings.Contains(line, "lacks="+right+"\n") || strings.Contains(line, "lacks=\""+right) ||
				strings.Contains(line, "end earlier") && right == "client|kill"
			if named || strings.Contains(line, "[WARN]") && strings.Contains(line, "'"+command) {
				return true, ""
			}
		}
		return false, r.Log()[before:]
	})
	permit(t, m, anew...)
	permit(t, m, "CLIENT", "KILL", "USER", mastersUser)
	eventually(t, "the master votes again", func() (bool, string) {
		n := r.Metric("redlockd_masters_voting")
		return n == 5, fmt.Sprint(n, " vote")
	})
}
