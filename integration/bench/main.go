package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// options are the flags.
type options struct {
	root    string
	binary  string
	before  string
	out     string
	profile string
	only    string
	rounds  int
	seconds float64
	idle    int
	held    int
	timeout time.Duration
	// relay is for the process that delays, with the addresses behind it.
	relay time.Duration
	rest  []string
}

// quiet keeps go-redis from telling of every dead master on the way.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func main() {
	redis.SetLogger(quiet{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.root, "root", "../..", "the `folder` of redlockd's main module")
	fs.StringVar(&o.binary, "redlockd", "", "measure this `file`, instead of building redlockd anew")
	fs.StringVar(&o.before, "before", "", "compare with this redlockd too, by pairs of short turns, in workload a: a `file` built before a change")
	fs.StringVar(&o.out, "out", "", "write results.md, results.json and the charts into this `folder`")
	fs.StringVar(&o.profile, "profile", "", "measure nothing, but write a profile of redlockd's processor time into this `file`")
	fs.StringVar(&o.only, "only", "a,b,c,d,e,f", "the `workloads` to run")
	fs.IntVar(&o.rounds, "rounds", 5, "how often each contender has its turn")
	fs.Float64Var(&o.seconds, "seconds", 1, "how long a turn lasts")
	fs.IntVar(&o.idle, "idle", 10000, "how many idle sessions workload c has")
	fs.IntVar(&o.held, "held", 1000000, "how many locks workload f holds, at least 10")
	fs.DurationVar(&o.timeout, "timeout", 0, "redlockd's quorum.timeout; 0 is its default")
	fs.DurationVar(&o.relay, "relay", 0, "be the relay that delays by this much; bench starts it itself")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.rest = fs.Args()
	switch {
	case o.relay == 0 && len(o.rest) > 0:
		return o, fmt.Errorf("what is %q?", o.rest[0])
	case o.rounds < 1 || o.seconds <= 0 || o.idle < 1 || o.held < 10:
		return o, errors.New("-rounds, -seconds and -idle must be more than 0, -held at least 10")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.relay > 0 {
		return runRelay(ctx, o.relay, o.rest, out)
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	r, err := newRig(ctx, root, o.binary)
	if err != nil {
		return err
	}
	defer r.close()
	r.timeout, r.before = o.timeout, o.before
	b := &bench{ctx: ctx, rig: r, rounds: o.rounds, length: time.Duration(o.seconds * float64(time.Second)), idle: o.idle, held: o.held, out: out}
	if o.profile != "" {
		return b.profile(o.profile)
	}
	s := settingOf(ctx, b)
	err = b.runAll(chosen)
	fmt.Fprintln(out)
	b.report(out, s)
	if o.out != "" {
		err = errors.Join(err, b.write(o.out, s))
	}
	return err
}

// runAll goes on after a workload that failed, so that the others are not
// lost; the report names it.
func (b *bench) runAll(chosen []workload) (all error) {
	for _, w := range chosen {
		if b.ctx.Err() != nil {
			return errors.Join(all, b.ctx.Err())
		}
		fmt.Fprintf(b.out, "%s. %s\n", w.name, w.title)
		mark := b.rig.mark()
		err := w.run(b)
		b.rig.stopSince(mark)
		if err != nil {
			b.note("Workload %s was not finished: %v", w.name, err)
			all = errors.Join(all, fmt.Errorf("workload %s: %w", w.name, err))
		}
	}
	return all
}

func choose(only string) (chosen []workload, err error) {
	for _, name := range strings.Split(only, ",") {
		found := false
		for _, w := range allWorkloads() {
			if w.name == name {
				chosen, found = append(chosen, w), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no workload %q", name)
		}
	}
	return chosen, nil
}
