package mark

import (
	"fmt"
	"strings"
)

// server is what a master reports in INFO.
type server struct {
	// Version is the redis_version, OwnVersion the server's own version: each Valkey
	// reports Redis 7.2.4 besides its own.
	RunID, Version, OwnVersion string

	Replica bool
	// evicts is the policy by which it may evict locks; empty if it does not evict.
	evicts string
	// Durable is whether it reports that a restart loses nothing. A server that was a
	// replica is not durable: it may lack the last writes.
	Durable bool
}

// ReadInfo reads a master's INFO.
func ReadInfo(info string) server {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	s := server{RunID: fields["run_id"], Version: fields["redis_version"], Replica: fields["role"] != "master",
		Durable: fields["aof_enabled"] == "1" && fields["second_repl_offset"] == "-1"}
	s.OwnVersion = s.Version
	if version := fields["valkey_version"]; version != "" {
		s.OwnVersion = "valkey " + version
	}
	if policy := fields["maxmemory_policy"]; fields["maxmemory"] != "0" && policy != "noeviction" {
		s.evicts = policy
	}
	return s
}

// AtLeast reports whether a redis_version is this one or newer. It is false for text that
// is no version.
func AtLeast(version string, major, minor int) bool {
	var has, hasMinor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &has, &hasMinor); n != 2 {
		return false
	}
	return has > major || has == major && hasMinor >= minor
}

// tooOld reports whether the server is a Redis before 6.2, which does not know SET with
// PXAT (V6): it would take the mark and refuse every lock. A server that reports no
// version is not refused.
func (s *server) tooOld() bool { return s.Version != "" && !AtLeast(s.Version, 6, 2) }
