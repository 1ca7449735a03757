package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/internal/journal"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// newLogger returns the process's logger; the packages get named sub-loggers. Its latest
// lines are in the journal.
func newLogger(cfg config.Log, w io.Writer) (hclog.Logger, *journal.Journal) {
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{
		Name:       "redlockd",
		Level:      hclog.LevelFromString(cfg.Level),
		JSONFormat: cfg.JSON,
		Output:     w,
	})
	lately := journal.New()
	log.RegisterSink(lately)
	return log, lately
}

// serveDev serves with masters in this process (-dev).
func serveDev(ctx context.Context, cfg config.Config, stderr io.Writer) error {
	log, lately := newLogger(cfg.Log, stderr)
	log.Warn("-dev is for trying out: the masters live in this process and keep nothing", "masters", embeddedMasters)
	masters, err := startEmbedded(embeddedMasters)
	if err != nil {
		return fmt.Errorf("start embedded masters: %w", err)
	}
	// Deferred, so that it comes last: sessions and the quorum use the masters until they
	// are closed.
	defer masters.stop()
	cfg.Quorum.Masters = masters.list()
	return serve(ctx, cfg, log, lately, nil)
}

// process is everything that runs while redlockd serves.
type process struct {
	cfg     config.Config
	log     hclog.Logger
	certs   *certificates.Store
	q       *quorum.Quorum
	server  *proxy.Server
	admin   *admin.Server // nil without a block admin
	reloads *admin.Reloads
}

// serve connects the packages, serves until ctx is over, and stops. again reloads the
// configuration on SIGHUP; nil if there is no file.
func serve(ctx context.Context, cfg config.Config, log hclog.Logger, lately *journal.Journal, again *reloader) error {
	if err := enoughDescriptors(&cfg, descriptorLimit()); err != nil {
		return err
	}
	certs, err := certificates.Open(cfg.TLS, cfg.Quorum.Masters, log.Named("tls"))
	if err != nil {
		return fmt.Errorf("read certificates: %w", err)
	}
	// Listen before dialling the masters, because a second redlockd that was started by
	// mistake should leave no trace on them.
	open, adminLn, err := listen(cfg, certs, log)
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	// Serve closes them, unless the stop comes before it has begun.
	defer func() { _ = open.close(nil) }()
	cfg.Quorum.Masters = certs.Masters(cfg.Quorum.Masters)
	operators := fitDescriptors(&cfg, log)
	q, err := quorum.New(cfg.Quorum, log.Named("quorum"))
	if err != nil {
		return errors.Join(fmt.Errorf("start quorum: %w", err), open.close(adminLn))
	}
	p := &process{cfg: cfg, log: log, certs: certs, q: q, reloads: admin.NewReloads(time.Now())}
	p.server = proxy.New(cfg.Proxy, commands.New(cfg.Commands, wallClock), q, shortVersion(), log.Named("proxy"))
	serving, stopped := context.WithCancel(context.Background())
	defer stopped()
	go keepBallast(serving, p.server.Clients)
	served := make(chan error, len(open))
	go func() {
		if _ = waitReady(ctx, q); ctx.Err() == nil {
			p.tellSystemd(daemon.SdNotifyReady)
		}
		for _, d := range open {
			go func() { served <- p.server.Serve(d.ln, d.open) }()
		}
	}()
	log.Info("serving", append(open.fields(), "masters", len(cfg.Quorum.Masters), "quorum", cfg.Majority(), "version", shortVersion())...)
	if adminLn != nil {
		build := admin.Build{Version: shortVersion(), Details: versionText()}
		p.admin = admin.New(cfg, build, admin.Sources{Masters: q, Sessions: p.server, Certificates: certs,
			Reloads: p.reloads, Log: lately}, log.Named("admin"))
		p.admin.Limit(operators)
		go p.admin.Serve(adminLn, log)
		log.Info("serving metrics, health and readiness", "address", adminLn.Addr().String())
	}
	err = p.watch(ctx, served, again)
	p.stop()
	return err
}

// wallClock is the clock by which absolute expiries go (C3), in milliseconds since 1970.
func wallClock() int64 { return time.Now().UnixMilli() }

// watch logs when redlockd is ready, and loads new certificates and configurations, until
// ctx is over or the server ends by itself, which is an error.
func (p *process) watch(ctx context.Context, served <-chan error, again *reloader) error {
	watching, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { announce(watching, p.q, p.log) })
	tasks.Go(func() { p.server.StepAside(watching, p.q.Ready) })
	tasks.Go(func() { p.certs.Watch(watching) })
	if again != nil {
		again.masters = p.q
		again.access = p.server.Reload
		again.outcomes = p.reloads
		tasks.Go(func() { again.watch(watching, p.certs) })
	}
	// Before the stop, so that "ready" is never logged after "stopping".
	defer func() { cancel(); tasks.Wait() }()
	select {
	case err := <-served:
		return fmt.Errorf("stopped serving: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// tellSystemd reports a state to systemd if it asked for that (Type=notify), so that
// `systemctl restart` returns once clients are served.
func (p *process) tellSystemd(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		p.log.Warn("cannot notify systemd", "state", state, "error", err)
	}
}

// stop ends the sessions, then the quorum, then the admin address (S6).
func (p *process) stop() {
	p.log.Info("stopping", "drain", p.cfg.Drain)
	p.tellSystemd(daemon.SdNotifyStopping)
	// Before anything ends, so that load balancers that ask /readyz send no more clients
	// here.
	if p.admin != nil {
		p.admin.Stopping()
	}
	// The signal's context is over, so the stop has timeouts of its own.
	draining, cancel := context.WithTimeout(context.Background(), p.cfg.Drain)
	defer cancel()
	// Sessions end first, because their commands need the masters for their answers.
	if err := p.server.Shutdown(draining); err != nil {
		p.log.Warn("some sessions were cut off", "drain", p.cfg.Drain)
	}
	// The quorum ends after them, because sessions that were cut off leave rollbacks
	// (P5). It gets as long as one operation may take (V2); locks whose rollback is not
	// sent by then end with their TTL.
	closing, cancel := context.WithTimeout(context.Background(), p.cfg.Quorum.Timeout+p.cfg.Quorum.RetryBudget)
	defer cancel()
	if err := p.q.Close(closing); err != nil {
		p.log.Warn("some releases and rollbacks were not sent, these locks end with their TTL")
	}
	// The admin address ends last, because it shows how the stop goes, and a scrape may
	// still fetch the last numbers.
	if p.admin != nil {
		p.admin.Stop()
	}
	p.log.Info("stopped")
}
