package integration

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestStepAside: a redlockd that alone has lost the masters sends its clients to another one, which
// has their locks, and takes clients again when it has the masters back.
func TestStepAside(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	Bootstrap(t, cfg)
	cut := cfg
	cut.Listen, cut.Masters = `step_aside = "500ms"`, nil
	var links []*Link
	for _, m := range masters {
		l := NewLink(t, m.Addr)
		links, cut.Masters = append(links, l), append(cut.Masters, l.Addr)
	}
	first, second := JoinRedlockd(t, cut), JoinRedlockd(t, cfg)
	first.WaitVoting(masters...)
	second.WaitVoting(masters...)

	// A client with a list of addresses: it goes to the next one where one refuses.
	c := redis.NewClient(&redis.Options{MaxRetries: -1, PoolSize: 1, Dialer: func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		for _, addr := range []string{first.Addr, second.Addr} {
			if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", addr); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}})
	t.Cleanup(func() { c.Close() })
	port := func() string {
		text, _ := c.Info(ctx, "server").Result()
		return regexp.MustCompile(`tcp_port:(\d*)`).FindStringSubmatch(text + "tcp_port:")[1]
	}
	if err := c.SetNX(ctx, "k", "me", time.Minute).Err(); err != nil || !endsWith(first.Addr, port()) {
		t.Fatalf("the lock is taken at port %s, %v, want %s", port(), err, first.Addr)
	}
	for _, l := range links {
		l.Cut()
	}
	eventually(t, "the client extends its lock at the other redlockd", func() (bool, string) {
		n, err := c.Eval(ctx, extendScript, []string{"k"}, "me", 60000).Int()
		return err == nil && n == 1, fmt.Sprint(n, err)
	})
	if !endsWith(second.Addr, port()) {
		t.Errorf("the client is at port %s, want %s", port(), second.Addr)
	}
	loggedBy(t, first, `\[WARN\]  redlockd.proxy: stepping aside until locks can be taken: ending all sessions and accepting none: sessions=\d+ unready=`)
	if _, err := net.Dial("tcp", first.Addr); err == nil {
		t.Error("the one without masters accepts connections")
	}
	for _, l := range links {
		l.Mend()
	}
	loggedBy(t, first, `\[INFO\]  redlockd.proxy: accepting connections again`)
	again := first.Client()
	eventually(t, "it serves again", func() (bool, string) {
		got, err := again.Get(ctx, "k").Result()
		return got == "me", fmt.Sprint(got, err)
	})
}

func endsWith(addr, port string) bool {
	_, its, _ := net.SplitHostPort(addr)
	return its == port
}
