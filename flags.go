package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// usageError is a wrong command line or a wrong configuration.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// options is the command line.
type options struct {
	config, listen, health               string
	dev, check, bootstrap, version, help bool
}

const usageText = `redlockd keeps Redlock locks for clients that speak the Redis protocol.

  redlockd -dev                       try it out: five masters in memory, nothing is stored
  redlockd -config FILE               serve
  redlockd -config FILE -check        check the file and exit
  redlockd -config FILE -bootstrap    mark the masters of a new cluster and exit
  redlockd -health URL                ask a running one, like http://127.0.0.1:9736/healthz;
                                      exit code 0 if it answers 200
  redlockd -version                   print the version and exit

  -listen ADDR    listen here (host:port) instead of at the file's listen.address
`

// parseFlags parses the command line; its errors are usageErrors. It writes the text of
// -help to stdout.
func parseFlags(args []string, stdout io.Writer) (options, error) {
	var opt options
	flags := flag.NewFlagSet("redlockd", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints errors, once
	flags.StringVar(&opt.config, "config", "", "")
	flags.StringVar(&opt.listen, "listen", "", "")
	flags.StringVar(&opt.health, "health", "", "")
	flags.BoolVar(&opt.dev, "dev", false, "")
	flags.BoolVar(&opt.check, "check", false, "")
	flags.BoolVar(&opt.bootstrap, "bootstrap", false, "")
	flags.BoolVar(&opt.version, "version", false, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(stdout, usageText)
		return options{help: true}, err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q; a configuration is named by -config FILE", flags.Arg(0))
	}
	if err == nil {
		err = opt.problem()
	}
	if err != nil {
		return options{}, &usageError{fmt.Errorf("%w\n\n%s", err, strings.TrimRight(usageText, "\n"))}
	}
	return opt, nil
}

// problem returns an error if flags are missing or cannot be combined.
func (o options) problem() error {
	both := func(a bool, aName string, b bool, bName string) error {
		if a && b {
			return fmt.Errorf("%s and %s cannot be combined", aName, bName)
		}
		return nil
	}
	switch {
	case o.version:
		return nil
	case o.health != "":
		if o.config != "" || o.listen != "" || o.dev || o.check || o.bootstrap {
			return errors.New("-health cannot be combined with other flags")
		}
		return nil
	case o.config == "" && !o.dev:
		return errors.New("expected -config FILE, or -dev to try it out")
	}
	return errors.Join(
		both(o.dev, "-dev", o.config != "", "-config"),
		both(o.dev, "-dev", o.bootstrap, "-bootstrap"),
		both(o.dev, "-dev", o.check, "-check"),
		both(o.check, "-check", o.bootstrap, "-bootstrap"),
		both(o.listen != "", "-listen", o.bootstrap, "-bootstrap"),
	)
}

// healthURL parses the URL given to -health; its errors are usageErrors.
func healthURL(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, &usageError{fmt.Errorf("-health expects a URL, for example http://127.0.0.1:9736/healthz, and got %q", text)}
	}
	return address, nil
}
