package proxy

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/quorum"
)

// A real client, with the real interpreter, in both protocols.
func TestGoRedis(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		q := newFakeQuorum()
		srv := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) { c.Passwords = []string{"pw"} })
		client := redis.NewClient(&redis.Options{Addr: srv.addr, Password: "pw", DB: 2, Protocol: protocol, ClientName: "test"})
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()

		if ok, err := client.SetNX(ctx, "k", "token", time.Second).Result(); !ok || err != nil {
			t.Errorf("protocol %d: the first SETNX: %v, %v", protocol, ok, err)
		}
		if ok, err := client.SetNX(ctx, "k", "other", time.Second).Result(); ok || err != nil {
			t.Errorf("protocol %d: the second SETNX: %v, %v", protocol, ok, err)
		}
		if v, err := client.Get(ctx, "k").Result(); v != "token" || err != nil {
			t.Errorf("protocol %d: GET: %q, %v", protocol, v, err)
		}
		if _, err := client.Get(ctx, "nosuch").Result(); err != redis.Nil {
			t.Errorf("protocol %d: GET of nothing: %v", protocol, err)
		}
		if err := client.LPush(ctx, "l", "x").Err(); err == nil {
			t.Errorf("protocol %d: LPUSH is taken", protocol)
		}
		name, err := client.ClientGetName(ctx).Result()
		if name != "test" || err != nil {
			t.Errorf("protocol %d: CLIENT GETNAME: %q, %v", protocol, name, err)
		}
		got, err := client.ConfigGet(ctx, "databases").Result()
		if got["databases"] != "16" || err != nil {
			t.Errorf("protocol %d: CONFIG GET: %v, %v", protocol, got, err)
		}
		sub := client.Subscribe(ctx, "c")
		if _, err := sub.Receive(ctx); err != nil {
			t.Errorf("protocol %d: SUBSCRIBE: %v", protocol, err)
		}
		if n, err := client.Publish(ctx, "c", "m").Result(); n != 1 || err != nil {
			t.Errorf("protocol %d: PUBLISH: %d, %v", protocol, n, err)
		}
		if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "m" {
			t.Errorf("protocol %d: message: %v, %v", protocol, m, err)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if q.holder("2/k") != "token" {
			t.Errorf("protocol %d: locks: %v", protocol, q.locks)
		}
	}
}

func TestInfo(t *testing.T) {
	srv := start(t, nil)
	srv.q.status = quorum.Status{
		Quorum: 2, Voting: 1, Embedded: true,
		Masters: []quorum.MasterStatus{
			{Name: "a", Address: "h:1", State: quorum.Voting, Version: "7.0.15"},
			{Name: "b", Address: "h:2", State: quorum.Quarantine, Reason: "restarted\r\nrole:slave", Wait: time.Second},
		},
		Counters: quorum.Counters{Won: 7, LateGrants: 3},
	}
	client := redis.NewClient(&redis.Options{Addr: srv.addr})
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = client.LPush(ctx, "l", "x").Err() // to be counted
	info := client.InfoMap(ctx).Item
	for _, c := range [][3]string{
		{"Server", "redis_version", RedisVersion}, {"Server", "redis_mode", "standalone"},
		{"Replication", "role", "master"}, {"Replication", "connected_slaves", "0"},
		{"Persistence", "loading", "0"}, {"Cluster", "cluster_enabled", "0"}, {"Clients", "connected_clients", "1"},
		{"Redlockd", "redlockd_version", "1.2.3"}, {"Redlockd", "redlockd_mode", "dev"},
		{"Redlockd", "master0", "name=a,address=h:1,state=voting,version=7.0.15,votes_counted=0,votes_spare=0,votes_silent=0"},
		{"Redlockd", "master1", "name=b,address=h:2,state=quarantine,version=,votes_counted=0,votes_spare=0,votes_silent=0,wait_ms=1000,reason=restarted  role:slave"},
		{"Redlockd", "acquires_won", "7"}, {"Redlockd", "late_grants", "3"}, {"Redlockd", "refused_lpush", "1"},
	} {
		if got := info(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
