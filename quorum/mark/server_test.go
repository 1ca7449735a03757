package mark

import "testing"

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		version string
		want    bool
	}{
		{"6.2.0", true}, {"6.2.14", true}, {"6.10.1", true}, {"7.0.15", true}, {"10.0", true}, {"8.8-rc1", true},
		{"6.0.16", false}, {"5.9.9", false}, {"", false}, {"7", false}, {"unstable", false},
	} {
		if got := AtLeast(c.version, 6, 2); got != c.want {
			t.Errorf("atLeast(%q, 6, 2) is %v", c.version, got)
		}
	}
}

// Valkey reports Redis's version for clients and its own for operators.
func TestVersionsOfServers(t *testing.T) {
	for _, c := range []struct{ info, version, told string }{
		{"redis_version:7.0.15\r\n", "7.0.15", "7.0.15"},
		{"redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n", "7.2.4", "valkey 8.1.1"},
	} {
		if s := ReadInfo(c.info); s.Version != c.version || s.OwnVersion != c.told {
			t.Errorf("%q: version %q, told as %q", c.info, s.Version, s.OwnVersion)
		}
	}
}
