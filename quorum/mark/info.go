package mark

import (
	"fmt"
	"strconv"
	"strings"
)

// server is what INFO tells of a master.
type server struct {
	// Version is the redis_version, Told the server's own: each Valkey says
	// that it is Redis 7.2.4 besides.
	RunID, Version, Told string

	Replica bool
	// evicts is the policy by which it may evict locks; empty if it may not.
	evicts string
	// Clients are its connections, ours among them.
	Clients int
	// Durable is whether it says that it loses nothing in a restart: one that
	// was a replica may lack the last writes.
	Durable bool
}

// ReadInfo reads what a master tells in INFO.
func ReadInfo(info string) server {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	s := server{RunID: fields["run_id"], Version: fields["redis_version"], Replica: fields["role"] != "master",
		Durable: fields["aof_enabled"] == "1" && fields["second_repl_offset"] == "-1"}
	s.Told = s.Version
	if version := fields["valkey_version"]; version != "" {
		s.Told = "valkey " + version
	}
	s.Clients, _ = strconv.Atoi(fields["connected_clients"])
	if policy := fields["maxmemory_policy"]; fields["maxmemory"] != "0" && policy != "noeviction" {
		s.evicts = policy
	}
	return s
}

// AtLeast reports whether a redis_version is this one or newer. What is no version
// is not.
func AtLeast(version string, major, minor int) bool {
	var has, hasMinor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &has, &hasMinor); n != 2 {
		return false
	}
	return has > major || has == major && hasMinor >= minor
}

// TooOld reports whether it is a Redis before 6.2, which does not know SET with PXAT
// (V6): it would take its mark and refuse every lock. A server that tells no
// version may be good.
func (s *server) TooOld() bool { return s.Version != "" && !AtLeast(s.Version, 6, 2) }

// WhyTooOld is said of such a master.
func (s *server) WhyTooOld() string {
	return "is Redis " + s.Version + ", 6.2 or newer is needed"
}
