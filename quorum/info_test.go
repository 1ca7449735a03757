package quorum

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		version string
		want    bool
	}{
		{"6.2.0", true}, {"6.2.14", true}, {"6.10.1", true}, {"7.0.15", true}, {"10.0", true}, {"8.8-rc1", true},
		{"6.0.16", false}, {"5.9.9", false}, {"", false}, {"7", false}, {"unstable", false},
	} {
		if got := atLeast(c.version, 6, 2); got != c.want {
			t.Errorf("atLeast(%q, 6, 2) is %v", c.version, got)
		}
	}
}

// Valkey tells Redis's version for clients and its own for people.
func TestVersionsOfServers(t *testing.T) {
	for _, c := range []struct{ info, version, told string }{
		{"redis_version:7.0.15\r\n", "7.0.15", "7.0.15"},
		{"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n", "7.2.4", "valkey 8.1.1"},
	} {
		if s := readInfo(c.info); s.version != c.version || s.told != c.told {
			t.Errorf("%q: version %q, told as %q", c.info, s.version, s.told)
		}
	}
}

// M7: a Redis before 6.2 would take its mark and then refuse every lock. It is
// not asked, and both the status and -bootstrap say why.
func TestM7OldRedis(t *testing.T) {
	const why = "is Redis 6.0.16, 6.2 or newer is needed"
	inBubble(t, 3, func(c *cluster) {
		old := c.masters[2]
		old.kill()
		old.set(func() { old.version = "6.0.16" })
		old.startEmpty()
		time.Sleep(5 * time.Second)
		if s := c.state(2); s.State != Refused || s.Reason != why {
			t.Errorf("status is %+v", s)
		}
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		err := Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger())
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("bootstrap over it: %v", err)
		}
	})
}
