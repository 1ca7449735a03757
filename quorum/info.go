package quorum

import (
	"fmt"
	"strconv"
	"strings"
)

// server is what INFO tells of a master.
type server struct {
	// version is the redis_version, told the server's own: each Valkey says
	// that it is Redis 7.2.4 besides.
	runID, version, told string

	replica bool
	// evicts is the policy by which it may evict locks; empty if it may not.
	evicts string
	// clients are its connections, ours among them.
	clients int
	// durable is whether it says that it loses nothing in a restart: one that
	// was a replica may lack the last writes.
	durable bool
}

// readInfo reads what a master tells in INFO.
func readInfo(info string) server {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	s := server{runID: fields["run_id"], version: fields["redis_version"], replica: fields["role"] != "master",
		durable: fields["aof_enabled"] == "1" && fields["second_repl_offset"] == "-1"}
	s.told = s.version
	if version := fields["valkey_version"]; version != "" {
		s.told = "valkey " + version
	}
	s.clients, _ = strconv.Atoi(fields["connected_clients"])
	if policy := fields["maxmemory_policy"]; fields["maxmemory"] != "0" && policy != "noeviction" {
		s.evicts = policy
	}
	return s
}

// atLeast reports whether a redis_version is this one or newer. What is no version
// is not.
func atLeast(version string, major, minor int) bool {
	var has, hasMinor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &has, &hasMinor); n != 2 {
		return false
	}
	return has > major || has == major && hasMinor >= minor
}

// tooOld reports whether it is a Redis before 6.2, which does not know SET with PXAT
// (V6): it would take its mark and refuse every lock. A server that tells no
// version may be good.
func (s *server) tooOld() bool { return s.version != "" && !atLeast(s.version, 6, 2) }

// whyTooOld is said of such a master.
func (s *server) whyTooOld() string {
	return "is Redis " + s.version + ", 6.2 or newer is needed"
}
