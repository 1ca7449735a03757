package proxy

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

// infoSection is one section of INFO.
type infoSection struct {
	name  string
	title string
	write func(s *Server, w *infoText)
}

var infoSections = []infoSection{
	{"server", "Server", infoServer},
	{"clients", "Clients", infoClients},
	{"memory", "Memory", infoMemory},
	{"persistence", "Persistence", infoPersistence},
	{"stats", "Stats", infoStats},
	{"replication", "Replication", infoReplication},
	{"cpu", "CPU", infoCPU},
	{"modules", "Modules", func(*Server, *infoText) {}},
	{"errorstats", "Errorstats", infoErrors},
	{"cluster", "Cluster", func(_ *Server, w *infoText) { w.line("cluster_enabled", 0) }},
	{"keyspace", "Keyspace", func(*Server, *infoText) {}},
	{"redlockd", "Redlockd", infoRedlockd},
}

// infoText is the text of INFO under construction.
type infoText struct{ strings.Builder }

// line writes one field. Line breaks are removed from values, so that no value can look
// like another field.
func (w *infoText) line(name string, value any) {
	w.WriteString(name + ":" + resp.Clean([]byte(fmt.Sprint(value)), 1024) + "\r\n")
}

// infoCommand is INFO [section ...].
func infoCommand(s *session, args [][]byte) resp.Reply {
	want := func(string) bool { return true }
	if len(args) > 1 {
		want = func(name string) bool {
			return slices.ContainsFunc(args[1:], func(a []byte) bool {
				return grammar.Is(a, name) || grammar.Is(a, "all") || grammar.Is(a, "everything") || grammar.Is(a, "default")
			})
		}
	}
	var w infoText
	for _, section := range infoSections {
		if !want(section.name) {
			continue
		}
		if w.Len() > 0 {
			w.WriteString("\r\n")
		}
		w.WriteString("# " + section.title + "\r\n")
		section.write(s.srv, &w)
	}
	return resp.Verbatim(w.String())
}

func infoServer(s *Server, w *infoText) {
	w.line("redis_version", RedisVersion)
	w.line("redis_git_sha1", "00000000")
	w.line("redis_git_dirty", 0)
	w.line("redis_build_id", "redlockd")
	w.line("redis_mode", "standalone")
	w.line("os", runtime.GOOS+" "+runtime.GOARCH)
	w.line("arch_bits", strconv.IntSize)
	w.line("monotonic_clock", "Go")
	w.line("multiplexing_api", "Go")
	w.line("process_id", os.Getpid())
	w.line("run_id", s.runID)
	w.line("tcp_port", s.port.Load())
	w.line("server_time_usec", time.Now().UnixMicro())
	w.line("uptime_in_seconds", uptime(s))
	w.line("uptime_in_days", uptime(s)/86400)
	w.line("hz", 10)
	w.line("configured_hz", 10)
	w.line("executable", "redlockd")
	w.line("config_file", "")
}

func infoClients(s *Server, w *infoText) {
	w.line("connected_clients", s.Clients())
	w.line("cluster_connections", 0)
	w.line("maxclients", s.cfg().MaxClients)
	w.line("blocked_clients", s.Blocked())
	w.line("tracking_clients", 0)
}

func infoMemory(s *Server, w *infoText) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.line("used_memory", m.HeapAlloc)
	w.line("used_memory_rss", m.Sys)
	w.line("used_memory_peak", m.HeapSys)
	w.line("maxmemory", 0)
	w.line("maxmemory_policy", "noeviction")
	w.line("mem_allocator", "Go")
	w.line("number_of_cached_scripts", s.in.Scripts())
}

func infoPersistence(s *Server, w *infoText) {
	w.line("loading", 0)
	w.line("async_loading", 0)
	w.line("rdb_changes_since_last_save", 0)
	w.line("rdb_bgsave_in_progress", 0)
	w.line("rdb_last_save_time", s.started.Unix())
	w.line("rdb_last_bgsave_status", "ok")
	w.line("aof_enabled", 0)
	w.line("aof_rewrite_in_progress", 0)
	w.line("aof_last_write_status", "ok")
}

func infoStats(s *Server, w *infoText) {
	w.line("total_connections_received", s.stats.Connections.Load())
	w.line("total_commands_processed", s.stats.Commands.Load())
	w.line("total_net_output_bytes", s.stats.Written.Load())
	w.line("rejected_connections", s.stats.Rejected.Load())
	d := s.Defences()
	w.line("acl_access_denied_auth", d.LoginFailures)
	w.line("evicted_clients", d.Evicted)
	w.line("expired_keys", 0)
	w.line("evicted_keys", 0)
	names := s.hub.Counts()
	w.line("pubsub_channels", names[notify.Channel])
	w.line("pubsub_patterns", names[notify.Pattern])
	w.line("pubsubshard_channels", names[notify.Shard])
}

func infoReplication(s *Server, w *infoText) {
	w.line("role", "master")
	w.line("connected_slaves", 0)
	w.line("master_failover_state", "no-failover")
	w.line("master_replid", s.runID)
	w.line("master_replid2", strings.Repeat("0", 40))
	w.line("master_repl_offset", 0)
	w.line("second_repl_offset", -1)
	w.line("repl_backlog_active", 0)
	w.line("repl_backlog_size", 0)
	w.line("repl_backlog_first_byte_offset", 0)
	w.line("repl_backlog_histlen", 0)
}

func infoCPU(s *Server, w *infoText) {
	inUser, inSystem := cpuSeconds()
	w.line("used_cpu_sys", fmt.Sprintf("%.6f", inSystem))
	w.line("used_cpu_user", fmt.Sprintf("%.6f", inUser))
}

func infoErrors(s *Server, w *infoText) {
	errors, _ := s.stats.Snapshot()
	for _, code := range slices.Sorted(maps.Keys(errors)) {
		w.line("errorstat_"+code, fmt.Sprintf("count=%d", errors[code]))
	}
}

// infoRedlockd writes what Redis does not have: the masters, and the results of
// operations.
func infoRedlockd(s *Server, w *infoText) {
	st := s.q.Status()
	w.line("redlockd_version", s.version)
	if st.Embedded {
		w.line("redlockd_mode", "dev")
		w.line("redlockd_note", "the masters are embedded in this process: locks end with it and nothing is kept")
	} else {
		w.line("redlockd_mode", "server")
	}
	w.line("quorum", st.Quorum)
	w.line("masters", len(st.Masters))
	w.line("masters_voting", st.Voting)
	w.line("masters_generation", st.Generation)
	w.line("masters_phase", st.Phase)
	for i, m := range st.Masters {
		w.line("master"+strconv.Itoa(i), describeMaster(m))
	}
	c := st.Counters
	for _, f := range []struct {
		name  string
		value uint64
	}{
		{"acquires_won", c.Won}, {"acquires_held", c.Held}, {"acquires_split", c.Split},
		{"acquires_undecided", c.Undecided}, {"released", c.Released}, {"extended", c.Extended}, {"reads", c.Reads},
		{"rollbacks", c.Rollbacks}, {"late_grants", c.LateGrants}, {"quarantines", c.Quarantines},
		{"lost_connections", c.LostConnections}, {"master_errors", c.MasterErrors},
		{"without_majority", c.WithoutMajority}, {"protocol_errors", s.stats.ProtocolErrors.Load()},
	} {
		w.line(f.name, f.value)
	}
	held, _ := s.Held(0)
	w.line("held_locks", held)
	w.line("operations_under_way", st.UnderWay)
	w.line("operations_waiting", st.Waiting)
	w.line("slowlog_len", s.slow.Len())
	_, refused := s.stats.Snapshot()
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		w.line("refused_"+strings.ReplaceAll(name, ":", "_"), refused[name])
	}
}

// describeMaster returns the value of one master's field. The reason is last because it
// is free text.
func describeMaster(m quorum.MasterStatus) string {
	text := fmt.Sprintf("name=%s,address=%s,state=%s,version=%s", m.Name, m.Address, m.State, m.Version)
	if m.Required {
		text += ",required=1"
	}
	text += fmt.Sprintf(",votes_counted=%d,votes_spare=%d,votes_silent=%d", m.Votes.Counted, m.Votes.Spare, m.Votes.Silent)
	if n := m.Batches.Count; n > 0 {
		text += fmt.Sprintf(",batch_usec=%d", m.Batches.Sum.Microseconds()/int64(n))
	}
	if m.Wait > 0 {
		text += fmt.Sprintf(",wait_ms=%d", m.Wait/time.Millisecond)
	}
	if m.Reason != "" {
		text += ",reason=" + m.Reason
	}
	return text
}
