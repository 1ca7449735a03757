package admin

import (
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/status"
)

// Sessions provides figures about clients; the proxy's server implements it.
type Sessions interface {
	status.Clients
	Clients() int
	MaxClients() int
	Refused() map[string]uint64
	Defences() proxy.Defences
	Lost() map[string]uint64
	Aside() bool
}

// Certificates provides when certificates expire, by the blocks that they are for.
type Certificates interface{ Expiries() map[string]time.Time }

// newRegistry returns a registry with everything on /metrics, and nothing global.
func newRegistry(version string, from Sources) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(&metrics{version, from}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// metrics reads the packages' own counters when it is scraped. So counting costs the
// locks nothing, and INFO and Prometheus report the same numbers.
type metrics struct {
	version string
	from    Sources
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("redlockd_"+name, help, labels, nil)
}

var (
	acquiresDesc   = desc("acquires_total", "Acquires by verdict: won, held by another, split over several attempts, or undecided because no majority could tell.", "verdict")
	upDesc         = desc("master_up", "1 if the master is connected and answers, whether it may vote or not.", "master")
	stateDesc      = desc("master_state", "1 for the state that the master is in: voting, quarantine, new, frozen, down or refused.", "master", "state")
	waitDesc       = desc("master_quarantine_seconds", "How much longer the master may not vote, at least; 0 if it is not in quarantine.", "master")
	readyDesc      = desc("ready", "1 if locks can be taken: a majority of the masters votes, the required one among them, and this redlockd does not itself pause.")
	votingDesc     = desc("masters_voting", "Masters that may vote now.")
	quorumDesc     = desc("quorum", "Masters that must agree.")
	sessionsDesc   = desc("sessions", "Open client connections.")
	generationDesc = desc("masters_generation", "How often the list of masters has changed, and 1.")
	phaseDesc      = desc("masters_phase", "1 for the phase that the last change of the list of masters is in: announced, closed or final.", "phase")
	reloadDesc     = desc("config_last_reload_successful", "1 if the configuration file is in force as it was when it was last loaded, 0 if it was refused then.")
	reloadedDesc   = desc("config_last_reload_success_timestamp_seconds", "When a configuration file was last put in force, in seconds since 1970.")
	maxClientsDesc = desc("max_clients", "How many client connections there may be: the limit in force, which open files may make less than the setting.")
	refusedDesc    = desc("refused_commands_total", "Commands that redlockd does not serve, by name; beyond a bound of names as other.", "command")
	failuresDesc   = desc("login_failures_total", "Logins with a wrong user or password.")
	deniedDesc     = desc("denied_total", "Commands answered NOPERM, because the user lacks a right.")
	closedDesc     = desc("sessions_closed_total", "Sessions closed because of a limit, by the limit.", "limit")
	memoryDesc     = desc("session_memory_bytes", "What sessions hold of commands that wait and replies that were not read, beyond 16 KiB each.")
	lostDesc       = desc("locks_lost_total", "Locks that had ended when their holder asked for them, as far as this redlockd remembers them, by cause.", "cause")
	asideDesc      = desc("stepped_aside", "1 if this redlockd accepts no clients because no lock can be taken (step_aside).")
	expiryDesc     = desc("certificate_expiry_timestamp_seconds", "When the certificate of a block tls ends, in seconds since 1970.", "block")
	buildDesc      = desc("build_info", "1, with what this redlockd was built from.", "version", "goversion")
)

// counters are the quorum's counters that have no label.
var counters = []struct {
	desc  *prometheus.Desc
	value func(quorum.Counters) uint64
}{
	{desc("releases_total", "Locks released."), func(c quorum.Counters) uint64 { return c.Released }},
	{desc("extends_total", "Locks extended."), func(c quorum.Counters) uint64 { return c.Extended }},
	{desc("reads_total", "Reads answered."), func(c quorum.Counters) uint64 { return c.Reads }},
	{desc("rollbacks_total", "Lost attempts undone on a master."), func(c quorum.Counters) uint64 { return c.Rollbacks }},
	{desc("late_grants_total", "Locks that a majority granted too late to report, and that were rolled back."), func(c quorum.Counters) uint64 { return c.LateGrants }},
	{desc("messages_sent_total", "Messages to other redlockd."), func(c quorum.Counters) uint64 { return c.MessagesSent }},
	{desc("messages_heard_total", "Messages of other redlockd."), func(c quorum.Counters) uint64 { return c.MessagesHeard }},
	{desc("messages_dropped_total", "Writes of messages that were dropped, for each master."), func(c quorum.Counters) uint64 { return c.MessagesDropped }},
	{desc("quarantines_total", "Times that a master may have forgotten locks and had to wait."), func(c quorum.Counters) uint64 { return c.Quarantines }},
	{desc("lost_connections_total", "Times that a master went down."), func(c quorum.Counters) uint64 { return c.LostConnections }},
	{desc("master_errors_total", "Errors that masters answered."), func(c quorum.Counters) uint64 { return c.MasterErrors }},
	{desc("without_majority_total", "Operations answered NOQUORUM because no majority could tell."), func(c quorum.Counters) uint64 { return c.WithoutMajority }},
}

// phases are all phases of a change of the list of masters, so that each has a series.
var phases = []string{"announced", "closed", "final"}

// masterStates are all states of a master, so that each has a series.
var masterStates = []quorum.MasterState{quorum.Voting, quorum.Quarantine, quorum.Fresh, quorum.Frozen, quorum.Down, quorum.Refused}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{acquiresDesc, upDesc, stateDesc, waitDesc, readyDesc, votingDesc, quorumDesc,
		generationDesc, phaseDesc, reloadDesc, reloadedDesc, sessionsDesc, maxClientsDesc, refusedDesc, failuresDesc, deniedDesc, closedDesc, memoryDesc, lostDesc, asideDesc, expiryDesc, buildDesc} {
		out <- d
	}
	for _, c := range counters {
		out <- c.desc
	}
	for _, d := range timingDescs {
		out <- d
	}
}

// Collect implements prometheus.Collector. It is called at each scrape, possibly
// concurrently.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := m.from.Masters.Status()
	counter(acquiresDesc, s.Counters.Won, "won")
	counter(acquiresDesc, s.Counters.Held, "held")
	counter(acquiresDesc, s.Counters.Split, "split")
	counter(acquiresDesc, s.Counters.Undecided, "undecided")
	for _, c := range counters {
		counter(c.desc, c.value(s.Counters))
	}
	for name, n := range labelled(m.from.Sessions.Refused()) {
		counter(refusedDesc, n, name)
	}
	d := m.from.Sessions.Defences()
	counter(failuresDesc, d.LoginFailures)
	counter(deniedDesc, d.Denied)
	counter(closedDesc, d.Dropped, "max_pending")
	counter(closedDesc, d.Evicted, "max_memory")
	counter(closedDesc, d.TurnedAway, "max_clients")
	gauge(memoryDesc, float64(d.Memory))
	for cause, n := range m.from.Sessions.Lost() {
		counter(lostDesc, n, cause)
	}
	gauge(asideDesc, number01(m.from.Sessions.Aside()))
	for _, master := range s.Masters {
		collectMaster(gauge, master)
	}
	m.collectTiming(out, s)
	gauge(readyDesc, number01(s.Ready))
	gauge(votingDesc, float64(s.Voting))
	gauge(quorumDesc, float64(s.Quorum))
	gauge(generationDesc, float64(s.Generation))
	for _, phase := range phases {
		gauge(phaseDesc, number01(s.Phase == phase), phase)
	}
	good, at := m.from.Reloads.Last()
	gauge(reloadDesc, number01(good))
	gauge(reloadedDesc, float64(at.Unix()))
	gauge(sessionsDesc, float64(m.from.Sessions.Clients()))
	gauge(maxClientsDesc, float64(m.from.Sessions.MaxClients()))
	for block, ends := range m.from.Certificates.Expiries() {
		gauge(expiryDesc, float64(ends.Unix()), block)
	}
	gauge(buildDesc, 1, m.version, runtime.Version())
}

func collectMaster(gauge func(*prometheus.Desc, float64, ...string), m quorum.MasterStatus) {
	gauge(upDesc, number01(m.State != quorum.Down && m.State != quorum.Frozen), m.Name)
	for _, state := range masterStates {
		gauge(stateDesc, number01(m.State == state), m.Name, string(state))
	}
	gauge(waitDesc, m.Wait.Seconds(), m.Name)
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// labelled makes names valid for labels, which are UTF-8. Clients choose the names; two
// that become equal are counted together. "other" is always there, so that the metric is.
func labelled(names map[string]uint64) map[string]uint64 {
	clean := map[string]uint64{"other": 0}
	for name, n := range names {
		clean[strings.ToValidUTF8(name, "?")] += n
	}
	return clean
}
