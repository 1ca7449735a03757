package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bench is a language's bench.json.
type Bench struct {
	Language string    `json:"language"`
	Check    string    `json:"check"`   // shell command: fails when the runtime or the packages are missing
	Install  string    `json:"install"` // shell command that gets them
	Build    string    `json:"build"`   // shell command, needs no network once installed
	Programs []Program `json:"programs"`

	dir      string
	prepared sync.Once
	reason   string // why it cannot be run, once prepared
}

// Program is one library's.
type Program struct {
	Name  string   `json:"name"`
	Run   []string `json:"run"`       // host, port and prefix are added
	Check string   `json:"check"`     // as Bench.Check, for this one alone
	Max   bool     `json:"no_expiry"` // it needs no_expiry = "max_ttl"
	Login bool     `json:"password"`  // it logs in with BENCH_PASSWORD
	Note  string   `json:"note"`      // for the report
	// General is a client of all commands, in whose program the scripts are ours.
	General bool `json:"general"`
	// StandIn is a program of ours in place of a library that cannot be had.
	StandIn bool `json:"stand_in"`
	// Refused is set where redlockd cannot serve the library, and has to say so.
	Refused *refusal `json:"refused"`
}

// refusal is why a library cannot be served.
type refusal struct {
	Error string `json:"error"` // a part of the first reply that is not Redis's
	Why   string `json:"why"`   // for the report
}

// loadBenches reads integration/clients/*/bench.json, the languages with the
// most users first.
func loadBenches(dir string) ([]*Bench, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "bench.json"))
	if err != nil {
		return nil, err
	}
	order := map[string]int{"go": 1, "python": 2, "node": 3, "java": 4, "rust": 5, "php": 6, "ruby": 7, "perl": 8, "lua": 9, "c": 10, "cli": 11}
	sort.Slice(files, func(i, j int) bool {
		name := func(i int) string { return filepath.Base(filepath.Dir(files[i])) }
		return order[name(i)] < order[name(j)]
	})
	var benches []*Bench
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		b := &Bench{dir: filepath.Dir(file)}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(b); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		benches = append(benches, b)
	}
	return benches, nil
}

// ready says why the language cannot be run, or nothing. It installs if asked
// to and builds, the first time. Safe for concurrent use.
func (b *Bench) ready(ctx context.Context, opts options) string {
	b.prepared.Do(func() { b.reason = b.prepare(ctx, opts) })
	return b.reason
}

func (b *Bench) prepare(ctx context.Context, opts options) string {
	if b.Check != "" && b.shell(ctx, b.Check) != "" && opts.install && b.Install != "" {
		if reason := b.shell(ctx, b.Install); reason != "" {
			return "installing: " + reason
		}
	}
	if b.Check != "" {
		if reason := b.shell(ctx, b.Check); reason != "" {
			return "not installed: " + reason
		}
	}
	if b.Build != "" {
		if reason := b.shell(ctx, b.Build); reason != "" {
			return "building: " + reason
		}
	}
	return ""
}

// shell runs a command in the language's folder and returns the last line of
// what it said if it fails.
func (b *Bench) shell(ctx context.Context, command string) string {
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir = b.dir
	said, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return short(last, 160)
	}
	return command + ": " + err.Error()
}

// nextPrefix numbers the programs, so that none finds keys of another. It is
// the same against all targets, because errors name keys.
var nextPrefix atomic.Int64

// measure runs the program against all targets, side by side.
func (b *Bench) measure(ctx context.Context, opts options, rig *rig, seen heard, p Program, r *row) {
	targets := rig.targets(p)
	r.targets, r.began = targets, time.Now()
	prefix := fmt.Sprintf("bench%d:", nextPrefix.Add(1))
	r.runs = make([]outcome, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			rec, err := newRecorder(t.addr)
			if err != nil {
				r.runs[i].failure = err.Error()
				return
			}
			r.runs[i] = b.once(ctx, opts.limit, p, rec.addr, t.elsewhere.addr, prefix)
			said := rec.stop()
			switch {
			case i > 0 || p.General || p.Refused != nil:
			case p.StandIn:
				seen.standIns.add(p.Name, said)
			default:
				seen.libraries.add(p.Name, said)
			}
			if opts.trace != "" {
				name := strings.NewReplacer("/", "-", " ", "-", "@", "").Replace(b.Language + "-" + p.Name + "." + t.name)
				if err := writeTrace(filepath.Join(opts.trace, name), said); err != nil {
					r.runs[i].failure = err.Error()
				}
			}
		})
	}
	wg.Wait()
	if v, is := r.runs[0].results["version"].(string); is {
		r.version = v
	}
}

// once runs the program against one address and collects its steps. A few programs use
// elsewhere besides.
func (b *Bench) once(ctx context.Context, limit time.Duration, p Program, addr, elsewhere, prefix string) outcome {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	host, port, _ := strings.Cut(addr, ":")
	args := append(append([]string{}, p.Run[1:]...), host, port, prefix)
	name := p.Run[0]
	if strings.Contains(name, "/") {
		name = filepath.Join(b.dir, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "BENCH_ELSEWHERE="+elsewhere)
	if p.Login {
		cmd.Env = append(cmd.Env, "BENCH_PASSWORD="+password)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()

	o := outcome{results: map[string]any{}}
	for line := range strings.Lines(string(said)) {
		var step map[string]any
		if json.Unmarshal([]byte(line), &step) != nil {
			continue // a library may print of its own
		}
		for name, result := range step {
			if _, seen := o.results[name]; !seen {
				o.steps = append(o.steps, name)
			}
			o.results[name] = result
		}
	}
	switch {
	case ctx.Err() != nil:
		o.failure = fmt.Sprintf("hangs after %q", last(o.steps))
	case err != nil:
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		o.failure = fmt.Sprintf("%v after %q: %s", err, last(o.steps), short(lines[len(lines)-1], 200))
	case len(o.steps) == 0:
		o.failure = "printed no step"
	}
	return o
}

func last(steps []string) string {
	if len(steps) == 0 {
		return "its start"
	}
	return steps[len(steps)-1]
}

func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
