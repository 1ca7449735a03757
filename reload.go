package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// reloader reads the configuration again on SIGHUP (S6). Certificates, masters, users,
// limits and the log level change at once and drop no session. The names of all other
// changed settings are logged; these wait for the next start.
type reloader struct {
	file, listen string
	log          hclog.Logger
	signals      chan os.Signal
	// running is the configuration at the start; level is the present log level.
	running config.Config
	level   string
	// masters receives a changed list of masters (M8); set before watch.
	masters interface {
		MayChangeMasters([]quorum.Master) error
		ChangeMasters([]quorum.Master) error
	}
	// outcomes receives how each reload went; set before watch.
	outcomes *admin.Reloads
	// access receives users and limits; set before watch. nil in tests.
	access func(proxy.Config)
}

// newReloader catches SIGHUP from here on, so that an early one does not end the process.
func newReloader(opt options, cfg config.Config, log hclog.Logger) *reloader {
	r := &reloader{file: opt.config, listen: opt.listen, log: log, running: cfg, level: cfg.Log.Level,
		signals: make(chan os.Signal, 1)}
	signal.Notify(r.signals, syscall.SIGHUP)
	return r
}

func (r *reloader) stop() { signal.Stop(r.signals) }

// watch reloads at every signal until ctx is over.
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

// reload reads the file once.
func (r *reloader) reload(certs *certificates.Store) {
	ok := r.take(certs)
	r.outcomes.Done(ok, time.Now())
	if ok {
		r.log.Info("configuration reloaded", "file", r.file, "level", r.level)
	} else {
		r.log.Error("configuration not reloaded, the old one stays in force", "file", r.file)
	}
}

// take reads the file and puts it in force. If it is wrong, or its list of masters cannot be
// reached from the present one, nothing is changed, and take returns false. It does so, too,
// if certificates are replaced by wrong ones just now; those that are good are in force then.
func (r *reloader) take(certs *certificates.Store) bool {
	cfg, warned, err := config.Load(r.file, r.listen)
	if err != nil {
		r.tellWrong(err)
		return false
	}
	for _, warning := range warned {
		r.log.Warn(warning)
	}
	if !r.mastersTaken(r.masters.MayChangeMasters(cfg.Quorum.Masters)) || !certs.Reload(cfg.TLS, cfg.Quorum.Masters) ||
		!r.mastersTaken(r.masters.ChangeMasters(certs.Masters(cfg.Quorum.Masters))) {
		return false
	}
	fitDescriptors(&cfg, r.log)
	if r.access != nil {
		r.access(cfg.Proxy)
	}
	if cfg.Log.Level != r.level {
		r.log.SetLevel(hclog.LevelFromString(cfg.Log.Level))
		r.level = cfg.Log.Level
	}
	if waiting := config.NeedsRestart(r.running, cfg); len(waiting) > 0 {
		r.log.Warn("some changes take effect at the next start", "settings", strings.Join(waiting, ", "))
	}
	return true
}

// mastersTaken logs why the list of masters cannot be taken, if err says so.
func (r *reloader) mastersTaken(err error) bool {
	if err != nil {
		r.log.Error("list of masters not changed", "problem", err)
	}
	return err == nil
}

// tellWrong logs each problem with its line.
func (r *reloader) tellWrong(err error) {
	var file *config.Error
	if errors.As(err, &file) {
		for _, p := range file.Problems() {
			r.log.Error("wrong configuration", "at", p.At, "problem", p.Text)
		}
	} else {
		r.log.Error("wrong configuration", "problem", err)
	}
}
