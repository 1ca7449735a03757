// Package admin serves the address for operators: metrics, health, readiness, Go's
// profiles and the status page. It is read-only, and its load is bounded so that it
// cannot slow down locks. No other package knows Prometheus.
//
// [New] assembles a [Server] (server.go). auth.go asks for the password, and host.go refuses web pages that pass for it
// where there is none. probes.go
// answers /healthz and /readyz, and [AskHealth] requests them (health.go). profiles.go
// serves /debug/pprof/. /metrics reads the counters of the other packages (metrics.go)
// and their durations (timing.go). The page itself is package status; facts.go lists the
// build and configuration that it shows.
package admin
