// Package admin is the address for operators: metrics, health, readiness, Go's
// profiles and the status page. It only looks; nothing can be changed through
// it, and nobody there may cost the locks anything. No other package knows
// Prometheus.
//
// [New] puts a [Server] together (server.go). auth.go asks for the password;
// probes.go answers /healthz and /readyz, and [AskHealth] asks them (health.go);
// profiles.go has /debug/pprof/. /metrics reads what the other packages count
// (metrics.go), and how long things take (timing.go). The page itself is package
// status; facts.go is what it tells of the build and the configuration.
package admin
