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
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	dir     string         // integration/clients
	root    string         // the main module
	binary  string         // a redlockd that is built already; empty builds it
	install bool           // get packages first
	prepare bool           // run nothing
	only    *regexp.Regexp // names of programs; nil is all
	trace   string         // folder for recordings; empty is none
	report  string         // file for the table; empty is none
	most    time.Duration  // no program starts after it; 0 is no bound
	limit   time.Duration  // for one program against one target
	jobs    int            // programs at a time
	timeout time.Duration  // redlockd's quorum.timeout
	verbose bool           // print each step's result
	brief   bool           // print a line for each language, and what is wrong
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	benches, err := loadBenches(opts.dir)
	if err != nil {
		return err
	}
	if opts.prepare {
		return prepare(ctx, opts, benches)
	}
	rig, err := startRig(ctx, opts)
	if err != nil {
		return err
	}
	defer rig.stop()

	seen := heard{libraries: newScripts(), standIns: newScripts()}
	rows := runAll(ctx, opts, benches, rig, seen, out)
	if opts.report != "" {
		elsewhere, err := os.ReadFile(filepath.Join(opts.dir, "elsewhere.md"))
		if err != nil {
			return err
		}
		if err := writeReport(opts.report, string(elsewhere), rows, seen.libraries.learn(ctx, rig.scratch.addr), seen.standIns.learn(ctx, rig.scratch.addr)); err != nil {
			return err
		}
	}
	if opts.brief {
		sumUp(rows, out)
		explain(rows, out)
	}
	return judge(rows, out)
}

func parse(args []string) (options, error) {
	var o options
	var only string
	fs := flag.NewFlagSet("runner", flag.ContinueOnError)
	fs.StringVar(&o.root, "root", ".", "the `folder` of redlockd's main module")
	fs.StringVar(&o.binary, "redlockd", "", "test this `file`, instead of building redlockd anew")
	fs.BoolVar(&o.install, "install", false, "install what the programs need, by each language's package manager")
	fs.BoolVar(&o.prepare, "prepare", false, "only install and build the programs, for integration/front")
	fs.StringVar(&only, "only", "", "run only programs whose language/name matches this `regexp`")
	fs.StringVar(&o.trace, "trace", "", "write every command and reply into this `folder`")
	fs.StringVar(&o.report, "report", "", "write the table to this `file`")
	fs.DurationVar(&o.most, "most", 0, "start no program after this `time`; what is left out is told")
	fs.DurationVar(&o.limit, "limit", 90*time.Second, "how long one program may take against one server")
	fs.IntVar(&o.jobs, "jobs", 2, "how many `programs` to run at a time, each against three servers")
	fs.DurationVar(&o.timeout, "timeout", time.Second, "redlockd's quorum.timeout")
	fs.BoolVar(&o.brief, "brief", false, "print a line for each language, and only what is wrong in full")
	fs.BoolVar(&o.verbose, "v", false, "print what each step gave against the one Redis")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("what is %q?", fs.Arg(0))
	}
	if (only != "" || o.most > 0) && o.report != "" {
		return o, errors.New("-report tells of all libraries, -only and -most run some")
	}
	if o.jobs < 1 {
		return o, errors.New("-jobs must be at least 1")
	}
	var err error
	if only != "" {
		if o.only, err = regexp.Compile(only); err != nil {
			return o, err
		}
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return o, err
	}
	o.dir = filepath.Join(o.root, "integration", "clients")
	return o, nil
}

// sumUp prints a line for each language, with every reason why one is missing.
func sumUp(rows []row, out io.Writer) {
	for len(rows) > 0 {
		language, of, others := rows[0].language, []row(nil), []row(nil)
		for _, r := range rows {
			if r.language == language {
				of = append(of, r)
			} else {
				others = append(others, r)
			}
		}
		count, why := map[status]int{}, []string(nil)
		for _, r := range of {
			count[r.status()]++
			if r.missing != "" && !slices.Contains(why, r.missing) {
				why = append(why, r.missing)
			}
		}
		fmt.Fprintf(out, "%-9s %2d ok, %2d refused, %2d missing", language, count[ok], count[refused], count[missing])
		for _, reason := range why {
			fmt.Fprintf(out, "\n          %s", short(reason, 160))
		}
		fmt.Fprintln(out)
		rows = others
	}
}

// explain prints once more what is wrong, since of a long output the end is what is kept,
// with the last that these redlockd have logged.
func explain(rows []row, out io.Writer) {
	for _, r := range rows {
		if st := r.status(); st != differs && st != broken {
			continue
		}
		fmt.Fprintf(out, "%s\n         from %s on; the end of the logs:\n", r.line(), r.began.UTC().Format(time.TimeOnly))
		for _, t := range r.targets[1:] {
			text, _ := os.ReadFile(t.log) // without it there is less to print
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			for _, line := range lines[max(0, len(lines)-8):] {
				fmt.Fprintf(out, "         %s: %s\n", t.name, short(line, 200))
			}
		}
	}
}

// judge prints the sum and is an error when any library differs. A missing
// one is neither good nor bad: it is named, and never counted as passed.
func judge(rows []row, out io.Writer) error {
	count := map[status]int{}
	for _, r := range rows {
		count[r.status()]++
	}
	fmt.Fprintf(out, "%d ok, %d refused, %d differ, %d broken, %d missing\n", count[ok], count[refused], count[differs], count[broken], count[missing])
	if count[differs]+count[broken] > 0 {
		return errors.New("not every client is served as by one Redis")
	}
	return nil
}
