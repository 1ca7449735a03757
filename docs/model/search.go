package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// result is what a search came to.
type result struct {
	// found says which assertion was violated, steps after how many steps, and
	// trail is the file that tells them.
	found expectation
	steps int
	trail string
	// states is how many were seen, seconds what that took of a processor,
	// compiling apart.
	states  int
	seconds float64
	err     error
}

// run generates the search, compiles it, lets it run, and keeps the trail.
func (c modelCase) run(ctx context.Context) result {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		return result{err: err}
	}
	defer os.RemoveAll(dir)
	model, err := filepath.Abs("docs/model/" + c.from())
	if err != nil {
		return result{err: err}
	}
	spin := append(c.defines(), "-a", model)
	if _, err := command(ctx, dir, nil, "spin", spin...); err != nil {
		return result{err: err}
	}
	// Breadth first finds the shortest trail, and soon, so that compiling it
	// well takes longer than the search.
	how := []string{"-O0", "-DBFS"}
	if c.want == holds {
		how = []string{"-O1"}
	}
	how = append(how, "-w", "-DSAFETY", "-DNOFAIR", "-o", "pan", "pan.c")
	if _, err := command(ctx, dir, nil, "cc", how...); err != nil {
		return result{err: err}
	}
	var used time.Duration
	out, err := command(ctx, dir, &used, "./pan", "-m100000", "-w22")
	r := read(out, err)
	r.seconds = used.Seconds()
	if r.found != holds && r.err == nil {
		r.err = c.keep(ctx, dir, model, &r)
	}
	return r
}

// defines are the case's switches for spin. Only a search that finds nothing
// may confuse the masters' names.
func (c modelCase) defines() []string {
	var out []string
	for _, d := range strings.Fields(c.world + " " + c.without) {
		out = append(out, "-D"+d)
	}
	if c.want == holds {
		out = append(out, "-DSORT")
	}
	return out
}

var (
	errorsFound  = regexp.MustCompile(`errors: (\d+)`)
	statesStored = regexp.MustCompile(`(?m)^ *([0-9.e+]+) states, stored`)
	violated     = regexp.MustCompile(`assertion violated +!\((\w+)\)`)
)

// read reads what the search printed. A search that was cut short and found
// nothing has shown nothing.
func read(out []byte, err error) result {
	var r result
	found := errorsFound.FindSubmatch(out)
	states := statesStored.FindSubmatch(out)
	if found == nil || states == nil {
		return result{err: errors.Join(err, fmt.Errorf("no result: %s", bytes.TrimSpace(out)))}
	}
	n, _ := strconv.ParseFloat(string(states[1]), 64)
	r.states = int(n)
	r.found = holds
	which := violated.FindSubmatch(out)
	if which != nil {
		r.found = asserted[string(which[1])]
	}
	switch {
	case string(found[1]) != "0" && (which == nil || r.found == ""):
		r.err = fmt.Errorf("another error than the assertions: %s", bytes.TrimSpace(out))
	case r.found == holds && (bytes.Contains(out, []byte("not completed")) || bytes.Contains(out, []byte("too small"))):
		r.err = errors.New("the search was not complete")
	}
	return r
}

// keep lets spin tell the trail, and keeps what the model itself prints.
func (c modelCase) keep(ctx context.Context, dir, model string, r *result) error {
	trail, err := os.ReadFile(filepath.Join(dir, c.from()+".trail"))
	if err != nil {
		return err
	}
	name := filepath.Join(kept, strings.ReplaceAll(c.name, " ", "-"))
	if err := os.WriteFile(name+".trail", trail, 0o644); err != nil {
		return err
	}
	// It exits with the number of errors that it meets: one.
	args := append(c.defines(), "-T", "-t", "-k", c.from()+".trail", model)
	out, _ := command(ctx, dir, nil, "spin", args...)
	var told strings.Builder
	fmt.Fprintf(&told, "spin %s -T -t -k %s.trail docs/model/%s\n\n", strings.Join(c.defines(), " "), name, c.from())
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "spin: ") {
			break // the assertion; the last state follows
		}
		told.WriteString(line)
	}
	if m := regexp.MustCompile(`trail ends after (\d+) steps`).FindSubmatch(out); m != nil {
		r.steps, _ = strconv.Atoi(string(m[1]))
	}
	r.trail = name + ".txt"
	return os.WriteFile(r.trail, []byte(told.String()), 0o644)
}

// command runs a program and returns all that it printed, and what it used.
func command(ctx context.Context, dir string, used *time.Duration, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if used != nil && cmd.ProcessState != nil {
		*used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out[:min(len(out), 2000)]))
	}
	return out, nil
}
