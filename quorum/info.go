package quorum

import (
	"strconv"
	"strings"
)

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
	s.clients, _ = strconv.Atoi(fields["connected_clients"])
	if policy := fields["maxmemory_policy"]; fields["maxmemory"] != "0" && policy != "noeviction" {
		s.evicts = policy
	}
	return s
}

// atLeast7 is whether a redis_version is 7.0 or newer.
func atLeast7(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 7
}
