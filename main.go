package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/quorum"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the system's default handling is restored, so that a second
	// signal ends a stop that takes too long.
	context.AfterFunc(ctx, stop)
	// Else the next line would end the process when the reader of its log has gone.
	signal.Ignore(syscall.SIGPIPE)
	stderr := newLogWriter(os.Stderr)
	err := run(ctx, os.Args[1:], os.Stdout, stderr)
	stderr.Close()
	os.Exit(exitCode(err))
}

// exitCode returns 0 for success, 1 for a failure, or 2 for a wrong command line or
// configuration, which a restart does not fix.
func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	default:
		return 1
	}
}

// run is the whole program. It returns after ctx is over and everything has stopped. It
// prints the error that it returns to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opt, err := parseFlags(args, stdout)
	if err == nil && !opt.help {
		err = act(ctx, opt, stdout, stderr)
	}
	tell(stderr, err)
	return err
}

// act does the one thing that the flags request.
func act(ctx context.Context, opt options, stdout, stderr io.Writer) error {
	switch {
	case opt.version:
		_, err := fmt.Fprintln(stdout, "redlockd", versionText())
		return err
	case opt.health != "":
		address, err := healthURL(opt.health)
		if err != nil {
			return err
		}
		return admin.AskHealth(ctx, address, stdout)
	case opt.dev:
		cfg, err := config.Dev(opt.listen)
		if err != nil {
			return &usageError{err}
		}
		return serveDev(ctx, cfg, stderr)
	}
	cfg, warned, err := config.Load(opt.config, opt.listen)
	if err != nil {
		return &usageError{err}
	}
	switch {
	case opt.check:
		return cfg.WriteSummary(stdout, opt.config, warned)
	case opt.bootstrap:
		return bootstrap(ctx, cfg, stdout, stderr)
	}
	log, lately := newLogger(cfg.Log, stderr)
	for _, warning := range warned {
		log.Warn(warning)
	}
	again := newReloader(opt, cfg, log)
	defer again.stop()
	return serve(ctx, cfg, log, lately, again)
}

// bootstrap writes the first marks of a new cluster (M6).
func bootstrap(ctx context.Context, cfg config.Config, stdout, stderr io.Writer) error {
	log, _ := newLogger(cfg.Log, stderr)
	certs, err := certificates.Open(cfg.TLS, cfg.Quorum.Masters, log.Named("tls"))
	if err != nil {
		return fmt.Errorf("read certificates: %w", err)
	}
	cfg.Quorum.Masters = certs.Masters(cfg.Quorum.Masters)
	if err := quorum.Bootstrap(ctx, cfg.Quorum, log.Named("quorum")); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "%d masters are marked and may vote: start redlockd, if none runs yet\n", len(cfg.Quorum.Masters))
	return err
}

// tell prints an error for the user, with the lines of the file if it is about a file.
func tell(stderr io.Writer, err error) {
	var file *config.Error
	switch {
	case err == nil:
	case errors.As(err, &file):
		file.Print(stderr)
	default:
		fmt.Fprintln(stderr, "redlockd:", err)
	}
}
