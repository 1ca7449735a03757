package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/hcl/v2"

	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// reloader reads the configuration again on SIGHUP (S6). Certificates, masters,
// users, limits and the log level change at once and drop no session; the rest
// is named, and waits for the next start.
type reloader struct {
	file, listen string
	log          hclog.Logger
	signals      chan os.Signal
	// running is what was in force at the start; level what is now.
	running config
	level   string
	// masters are told of another list of them (M8); nil before they are there.
	masters interface {
		ChangeMasters([]quorum.Master) error
	}
	// access takes users and limits; set before watch. nil in tests.
	access func(proxy.Config)
}

// newReloader takes SIGHUP from here on, so that an early one does not end
// the process.
func newReloader(opt options, cfg config, log hclog.Logger) *reloader {
	r := &reloader{file: opt.config, listen: opt.listen, log: log, running: cfg, level: cfg.log.level,
		signals: make(chan os.Signal, 1)}
	signal.Notify(r.signals, syscall.SIGHUP)
	return r
}

func (r *reloader) stop() { signal.Stop(r.signals) }

// watch reads again at every signal until ctx is over.
func (r *reloader) watch(ctx context.Context, certs *certificates.Store) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.signals:
			r.reload(certs)
		}
	}
}

// reload reads once. A wrong file changes nothing.
func (r *reloader) reload(certs *certificates.Store) {
	cfg, warned, err := loadConfig(r.file, r.listen)
	if err != nil {
		r.refuse(err)
		return
	}
	for _, warning := range warned {
		r.log.Warn(warning)
	}
	certs.Reload(cfg.tls, cfg.quorum.Masters)
	r.changeMasters(certs.Masters(cfg.quorum.Masters))
	if r.access != nil {
		r.access(cfg.proxy)
	}
	if cfg.log.level != r.level {
		r.log.SetLevel(hclog.LevelFromString(cfg.log.level))
		r.level = cfg.log.level
	}
	if waiting := differences(r.running, cfg); len(waiting) > 0 {
		r.log.Warn("some changes take effect at the next start", "settings", strings.Join(waiting, ", "))
	}
	r.log.Info("configuration reloaded", "file", r.file, "level", r.level)
}

// changeMasters hands the list on, which may be the same.
func (r *reloader) changeMasters(list []quorum.Master) {
	if err := r.masters.ChangeMasters(list); err != nil {
		r.log.Error("list of masters not changed", "problem", err)
	}
}

// refuse says each problem with its line.
func (r *reloader) refuse(err error) {
	var file *configError
	if errors.As(err, &file) {
		for _, d := range file.diags {
			r.log.Error("wrong configuration", "at", place(r.file, d), "problem", d.Summary+": "+d.Detail)
		}
	} else {
		r.log.Error("wrong configuration", "problem", err)
	}
	r.log.Error("configuration not reloaded, the old one stays in force", "file", r.file)
}

func place(file string, d *hcl.Diagnostic) string {
	if n := line(d); n > 0 {
		return fmt.Sprintf("%s:%d", file, n)
	}
	return file
}

// differences names the settings that differ and cannot change while
// redlockd runs.
func differences(running, read config) []string {
	a, b := settings(running), settings(read)
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

// settings is what a start fixes, by the names of the file.
func settings(cfg config) map[string]any {
	p, q, c := cfg.proxy, cfg.quorum, cfg.commands
	all := map[string]any{
		"listen.address": p.Address, "listen.drain": cfg.drain,
		"quorum.timeout": q.Timeout, "quorum.clock_drift": q.ClockDrift, "quorum.max_ttl": q.MaxTTL,
		"quorum.retry_budget": q.RetryBudget, "quorum.no_expiry": c.NoExpiry,
		"quorum.restart_quarantine": q.RestartQuarantine, "quorum.handover": q.Handover, "quorum.deny": fmt.Sprintf("%q", c.Deny),
		"log.json": cfg.log.json,
	}
	if a := cfg.admin; a != nil {
		all["admin.address"], all["admin.password"], all["admin.pprof"] = a.address, a.password, a.pprof
	}
	for _, block := range cfg.tls.Names() {
		// The files change at once; the rest see certificates.Store.Reload.
		if !certificates.IsMaster(block) {
			all[block+".tls"], all[block+".tls.client_ca"] = true, cfg.tls[block].CA != ""
		}
	}
	return all
}
