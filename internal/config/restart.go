package config

import (
	"fmt"
	"slices"

	"github.com/redlockd/redlockd/internal/certificates"
)

// NeedsRestart returns the names of the settings that differ and cannot change while
// redlockd runs, sorted.
func NeedsRestart(running, read Config) []string {
	a, b := fixed(running), fixed(read)
	var names []string
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fixed returns the settings that cannot change while redlockd runs, by their names in
// the file.
func fixed(cfg Config) map[string]any {
	p, q, c := cfg.Proxy, cfg.Quorum, cfg.Commands
	all := map[string]any{
		"listen.address": p.Address, "listen.unix": p.Unix, "listen.mode": p.Mode, "listen.drain": cfg.Drain,
		"quorum.timeout": q.Timeout, "quorum.clock_drift": q.ClockDrift, "quorum.max_ttl": q.MaxTTL,
		"quorum.retry_budget": q.RetryBudget, "quorum.no_expiry": c.NoExpiry,
		"quorum.handover": q.Handover, "quorum.deny": fmt.Sprintf("%q", c.Deny),
		"log.json": cfg.Log.JSON,
	}
	if a := cfg.Admin; a != nil {
		all["admin.address"], all["admin.password"], all["admin.pprof"] = a.Address, a.Password, a.Pprof
		all["admin.patterns"] = fmt.Sprintf("%q", p.Patterns)
	}
	for _, block := range cfg.TLS.Names() {
		// The files may change at any time; for the rest see certificates.Store.Reload.
		if !certificates.IsMaster(block) {
			all[block+".tls"], all[block+".tls.client_ca"] = true, cfg.TLS[block].CA != ""
		}
	}
	return all
}
