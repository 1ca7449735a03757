package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// job is one program to run.
type job struct {
	bench   *Bench
	program Program
	row     row
	took    time.Duration
	done    chan struct{}
}

// runAll runs the programs that were asked for, several at a time, and prints
// each row when it and those before it are there. Where the time is bounded
// each language has its turn, so that none is left out because of its place.
func runAll(ctx context.Context, opts options, benches []*Bench, rig *rig, seen heard, out io.Writer) []row {
	jobs := schedule(benches, opts)
	for _, j := range jobs {
		j.bench.ready(ctx, opts) // one after the other, and before the clock runs
	}
	order := slices.Clone(jobs)
	if opts.most > 0 {
		takeTurns(order)
	}
	deadline := time.Now().Add(opts.most)
	slots := make(chan struct{}, opts.jobs)
	go func() {
		for _, j := range order {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots; close(j.done) }()
				late := opts.most > 0 && time.Now().After(deadline)
				j.run(ctx, opts, rig, seen, late)
			}()
		}
	}()
	for _, j := range jobs {
		<-j.done
		j.tell(opts, out)
	}
	rows := make([]row, len(jobs))
	for i, j := range jobs {
		// NOQUORUM is an honest answer of masters that are too slow, and a
		// machine that runs several programs and a dozen servers is.
		if j.row.outOfTime() && ctx.Err() == nil {
			fmt.Fprintf(out, "again, alone, because of NOQUORUM:\n")
			j.run(ctx, opts, rig, seen, false)
			j.tell(opts, out)
		}
		rows[i] = j.row
	}
	return rows
}

// prepare installs and builds what the programs that were asked for need.
func prepare(ctx context.Context, opts options, benches []*Bench) error {
	var problems []error
	var done *Bench
	for _, j := range schedule(benches, opts) {
		if j.bench == done {
			continue
		}
		done = j.bench
		if reason := j.bench.ready(ctx, opts); reason != "" {
			problems = append(problems, fmt.Errorf("%s: %s", j.bench.Language, reason))
		}
	}
	return errors.Join(problems...)
}

// schedule is a job for each program that was asked for, in the order of the
// report.
func schedule(benches []*Bench, opts options) []*job {
	var jobs []*job
	for _, b := range benches {
		for _, p := range b.Programs {
			if opts.only == nil || opts.only.MatchString(b.Language+"/"+p.Name) {
				jobs = append(jobs, &job{bench: b, program: p, done: make(chan struct{})})
			}
		}
	}
	return jobs
}

// takeTurns puts the first program of every language first, then the second
// of each, and what is a variant by a password last.
func takeTurns(jobs []*job) {
	turn := make(map[*job]int)
	seen := make(map[*Bench]int)
	for _, j := range jobs {
		turn[j] = seen[j.bench]
		if j.program.Login {
			turn[j] += 1000
		} else {
			seen[j.bench]++
		}
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return turn[a] - turn[b] })
}

// run makes the row: unless something is missing, or it is too late.
func (j *job) run(ctx context.Context, opts options, rig *rig, seen heard, late bool) {
	b, p := j.bench, j.program
	j.row = row{language: b.Language, name: p.Name, note: p.Note, max: p.Max, standIn: p.StandIn, refused: p.Refused}
	if late {
		j.row.missing = fmt.Sprintf("left out, the %v of -most are over; make clients runs it", opts.most)
		return
	}
	start := time.Now()
	j.row.missing = b.ready(ctx, opts)
	if j.row.missing == "" && p.Check != "" {
		j.row.missing = b.shell(ctx, p.Check)
	}
	if j.row.missing == "" {
		b.measure(ctx, opts, rig, seen, p, &j.row)
	}
	j.took = time.Since(start)
}

// tell prints the row, or briefly what is wrong with it.
func (j *job) tell(opts options, out io.Writer) {
	if st := j.row.status(); opts.brief && (st == ok || st == missing || st == refused) {
		return
	}
	fmt.Fprintf(out, "%s%s\n", j.row.line(), j.time())
	if !opts.verbose || j.row.missing != "" {
		return
	}
	for _, step := range j.row.runs[0].steps {
		fmt.Fprintf(out, "           %-28s %s\n", step, short(show(j.row.runs[0].results[step]), 120))
	}
}

// time is how long it took, where that is much.
func (j *job) time() string {
	if j.took < time.Second || j.row.missing != "" {
		return ""
	}
	return fmt.Sprintf(" (%.1fs)", j.took.Seconds())
}
