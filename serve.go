package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// readyPatience is how long a start may go without a majority before it is
// warned about.
const readyPatience = 2 * time.Second

// newLogger is the one logger; the rooms get it Named.
func newLogger(cfg logConfig, w io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:       "redlockd",
		Level:      hclog.LevelFromString(cfg.level),
		JSONFormat: cfg.json,
		Output:     w,
	})
}

// serveDev serves over masters in this process (-dev).
func serveDev(ctx context.Context, cfg config, stderr io.Writer) error {
	log := newLogger(cfg.log, stderr)
	log.Warn("-dev is for trying out: the masters live in this process and keep nothing", "masters", embeddedMasters)
	masters, err := startEmbedded(embeddedMasters)
	if err != nil {
		return fmt.Errorf("start embedded masters: %w", err)
	}
	// Deferred, so after everything else: until the sessions and the quorum
	// are closed the masters are asked.
	defer masters.stop()
	cfg.quorum.Masters = masters.list()
	return serve(ctx, cfg, log)
}

// serve puts the rooms together, serves until ctx is over, and stops.
func serve(ctx context.Context, cfg config, log hclog.Logger) error {
	// Before the masters are dialled, because a second redlockd that was
	// started by mistake should leave no trace on them.
	ln, err := net.Listen("tcp", cfg.proxy.Address)
	if err != nil {
		return fmt.Errorf("cannot serve: %w", err)
	}
	q, err := quorum.New(cfg.quorum, log.Named("quorum"))
	if err != nil {
		ln.Close()
		return fmt.Errorf("start quorum: %w", err)
	}
	in := commands.New(cfg.commands, q.Now)
	server := proxy.New(cfg.proxy, in, q, shortVersion(), log.Named("proxy"))
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	log.Info("serving", "address", ln.Addr().String(), "masters", len(cfg.quorum.Masters),
		"quorum", majority(len(cfg.quorum.Masters)), "version", shortVersion())
	err = watch(ctx, q, served, log)
	stop(cfg, server, q, log)
	return err
}

// watch tells of the start until ctx is over, or the server ends by itself,
// which is an error.
func watch(ctx context.Context, q *quorum.Quorum, served <-chan error, log hclog.Logger) error {
	announcing, cancel := context.WithCancel(ctx)
	announced := make(chan struct{})
	go func() { announce(announcing, q, log); close(announced) }()
	// Before the stop, so that nothing says "ready" after "stopping".
	defer func() { cancel(); <-announced }()
	select {
	case err := <-served:
		return fmt.Errorf("stopped serving: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// announce says once when a majority is missing at the start, and when the
// majority is there.
func announce(ctx context.Context, q *quorum.Quorum, log hclog.Logger) {
	patient, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	err := q.WaitReady(patient)
	if err != nil && ctx.Err() == nil {
		status := q.Status()
		log.Warn("no majority of the masters may vote yet: until then every answer is NOQUORUM",
			"voting", status.Voting, "needed", status.Quorum, "masters", reasons(status))
		err = q.WaitReady(ctx)
	}
	if err == nil {
		status := q.Status()
		log.Info("ready", "voting", status.Voting, "masters", len(status.Masters))
	}
}

// reasons is why each master that may not vote may not, and for how long.
func reasons(status quorum.Status) string {
	var said []string
	for _, m := range status.Masters {
		if m.State == quorum.Voting {
			continue
		}
		text := m.Name + " " + string(m.State)
		if m.Reason != string(m.State) && m.Reason != "" {
			text += ": " + m.Reason
		}
		if m.Wait > 0 {
			text += ", waiting " + m.Wait.Round(time.Second).String()
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}

// stop ends the sessions and then the quorum (S6).
func stop(cfg config, server *proxy.Server, q *quorum.Quorum, log hclog.Logger) {
	log.Info("stopping", "drain", cfg.drain)
	// The signal's context is over; the stop has times of its own.
	draining, cancel := context.WithTimeout(context.Background(), cfg.drain)
	defer cancel()
	// The sessions first, because their commands need the masters for their
	// answers.
	if err := server.Shutdown(draining); err != nil {
		log.Warn("some sessions were cut off", "drain", cfg.drain)
	}
	// The quorum after, because a session that was cut off leaves rollbacks
	// (P5), and no longer than one operation may stay (V2), because what
	// cannot be sent by then ends with its TTL.
	closing, cancel := context.WithTimeout(context.Background(), cfg.quorum.Timeout+cfg.quorum.RetryBudget)
	defer cancel()
	if err := q.Close(closing); err != nil {
		log.Warn("some masters were not told everything; it ends with its TTL")
	}
	log.Info("stopped")
}
