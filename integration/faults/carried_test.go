package faults

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// carried is one fault that was carried out: what repeats it, whatever else is
// free then.
type carried struct {
	at        time.Duration
	kind      string
	draws     uint64 // the seed of what it drew
	masters   []int
	redlockds []int
}

const scheduleFile = "schedule"

// record adds a fault to the file of the run.
func (b *bench) record(c carried) {
	f, err := os.OpenFile(filepath.Join(b.k.dir, scheduleFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.tb.Errorf("recording the schedule: %v", err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%v\t%s\t%d\t%s\t%s\n", c.at.Round(time.Millisecond), c.kind, c.draws, numbers(c.masters), numbers(c.redlockds))
}

// recordPlan is the first line: what TestFaults draws by itself.
func (b *bench) recordPlan() {
	text := fmt.Sprintf("seed %d\tlength %v\tclients %d\n", b.seed, b.length, b.clients)
	if err := os.WriteFile(filepath.Join(b.k.dir, scheduleFile), []byte(text), 0o600); err != nil {
		b.tb.Errorf("recording the schedule: %v", err)
	}
}

func numbers(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, " ")
}

// recorded is a schedule that was read from a file.
type recorded struct {
	seed   uint64
	plan   plan
	faults []carried
}

// readSchedule is the file that SCHEDULE names, or nil.
func readSchedule(t *testing.T) *recorded {
	path := os.Getenv("SCHEDULE")
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, lines := &recorded{}, bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			err = r.readPlan(lines.Text())
		} else {
			err = r.readFault(lines.Text())
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
	}
	return r
}

// TestSchedule is that what was recorded is read as it was written.
func TestSchedule(t *testing.T) {
	b := &bench{tb: t, seed: 7, plan: plan{length: 30 * time.Second, clients: 24}, k: keeper{t, t.TempDir()}}
	want := []carried{
		{at: 1200 * time.Millisecond, kind: "disk full, ends", draws: 1 << 63, masters: []int{3, 1}},
		{at: 2 * time.Second, kind: "freeze redlockd", redlockds: []int{0}},
	}
	b.recordPlan()
	for _, c := range want {
		b.record(c)
	}
	t.Setenv("SCHEDULE", filepath.Join(b.k.dir, scheduleFile))
	got := readSchedule(t)
	if !reflect.DeepEqual(got.faults, want) || got.seed != b.seed || got.plan.length != b.length || got.plan.clients != b.clients {
		t.Errorf("got %+v, want %v of seed %d, %v, %d clients", got, want, b.seed, b.length, b.clients)
	}
}

func (r *recorded) readPlan(line string) (err error) {
	var length string
	if _, err = fmt.Sscanf(line, "seed %d\tlength %s\tclients %d", &r.seed, &length, &r.plan.clients); err == nil {
		r.plan.length, err = time.ParseDuration(length)
	}
	return err
}

func (r *recorded) readFault(line string) (err error) {
	parts := strings.Split(line, "\t")
	if len(parts) != 5 {
		return fmt.Errorf("%d parts, want 5", len(parts))
	}
	c := carried{kind: parts[1]}
	if c.at, err = time.ParseDuration(parts[0]); err != nil {
		return err
	}
	if c.draws, err = strconv.ParseUint(parts[2], 10, 64); err != nil {
		return err
	}
	for i, to := range []*[]int{&c.masters, &c.redlockds} {
		for _, text := range strings.Fields(parts[3+i]) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			*to = append(*to, n)
		}
	}
	r.faults = append(r.faults, c)
	return nil
}

// repeat carries out what was recorded, at its times, each as soon as its
// targets are free.
func (s *schedule) repeat(r *recorded) {
	every := append(append(kinds(), whole()...), kind{name: "freeze redlockd", prepare: freezeRedlockd})
	for _, c := range r.faults {
		i := slices.IndexFunc(every, func(k kind) bool { return k.name == c.kind })
		if i < 0 {
			s.b.tb.Errorf("no fault is called %q", c.kind)
			break
		}
		s.b.sleepUntil(c.at)
		for !s.b.ended() && !s.targetsFree(c) {
			time.Sleep(5 * time.Millisecond)
		}
		if s.b.ended() {
			break
		}
		s.only = &carried{masters: slices.Clone(c.masters), redlockds: slices.Clone(c.redlockds)}
		s.carryOut(every[i], c.draws)
	}
	s.wg.Wait()
	s.b.sleepUntil(r.plan.length)
}

func (b *bench) sleepUntil(at time.Duration) {
	for b.h.now() < at && !b.ended() {
		time.Sleep(min(at-b.h.now(), 20*time.Millisecond))
	}
}

func (s *schedule) targetsFree(c carried) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(c.masters, func(i int) bool { return !s.isFree(i) }) &&
		!slices.ContainsFunc(c.redlockds, func(n int) bool { return s.taken[n] })
}

// keepRun leaves the schedule and all calls of a failed run where they can be
// looked at.
func (b *bench) keepRun() {
	dir, err := os.MkdirTemp("", fmt.Sprintf("redlockd-faults-%d-", b.seed))
	if err != nil {
		b.tb.Logf("keeping the run: %v", err)
		return
	}
	var lines []string
	for _, calls := range b.h.keys {
		for _, c := range calls {
			lines = append(lines, c.String())
		}
	}
	lines = append(lines, b.h.faults...)
	slices.Sort(lines)
	_ = os.WriteFile(filepath.Join(dir, "history"), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	text, err := os.ReadFile(filepath.Join(b.k.dir, scheduleFile))
	if err == nil {
		_ = os.WriteFile(filepath.Join(dir, scheduleFile), text, 0o600)
		b.tb.Logf("to repeat its faults: make soak SCHEDULE=%s", filepath.Join(dir, scheduleFile))
	}
	lines = slices.Clone(b.h.violations)
	for _, key := range slices.Sorted(maps.Keys(b.h.accounts)) {
		lines = append(lines, key+":", b.h.accounts[key].String())
	}
	_ = os.WriteFile(filepath.Join(dir, "violations"), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	b.executed.keep(dir)
	b.tb.Logf("all violations, calls, faults and what the masters carried out: %s", dir)
}
