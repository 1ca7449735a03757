package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestM3LostMajorityByDefault is M3 with the default max_ttl of a day: three of five
// masters restart empty, and wait for what was granted; the first lock of an hour
// needs all masters, and later ones do not.
func TestM3LostMajorityByDefault(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 5)
	r := StartRedlockd(t, overFive(masters), masters)
	c := r.Client()
	take := func(key string, ttl time.Duration) (bool, string) {
		ok, err := c.SetNX(t.Context(), key, "me", ttl).Result()
		return ok && err == nil, fmt.Sprint(ok, err)
	}
	r.wantTake("short")
	masters[4].Freeze()
	rig.Eventually(t, "an hour is refused while a master does not answer", func() (bool, string) {
		_, text := take("long", time.Hour)
		return strings.Contains(text, "NOQUORUM no lock of 1h0m0s was granted before") && strings.Contains(text, "and e is "), text
	})
	r.wantTake("still short")
	masters[4].Thaw()
	rig.Eventually(t, "an hour is granted when all can be told", func() (bool, string) { return take("long", time.Hour) })
	masters[4].Kill()
	if ok, text := take("another", time.Hour); !ok {
		t.Errorf("another hour, with a master down: %s", text)
	}
	for _, m := range masters[:2] {
		m.RestartEmpty()
	}
	rig.Eventually(t, "they wait for an hour's lock, not for a day's", func() (bool, string) {
		_, text := take("lost", time.Second)
		return strings.Contains(text, "waiting 1h23m"), text
	})
}
