package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestMain is also the relay, which the program starts as itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-relay" {
		main()
		return
	}
	redis.SetLogger(quiet{})
	os.Exit(m.Run())
}

// TestRun is the whole program, briefly: every contender gets through every
// workload, and what is written can be read.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var said strings.Builder
	args := []string{"-rounds", "1", "-seconds", "0.05", "-idle", "50", "-held", "1000", "-timeout", "5s", "-out", dir}
	if err := run(t.Context(), args, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results struct {
		Rows []*row
		Aims []aim
	}
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, r := range results.Rows {
		rows[r.Workload]++
		if f := r.Figures[perSecond]; f != nil && f.Median() <= 0 {
			t.Errorf("%s, %s, %s: no cycle; %s", r.Workload, r.Condition, r.Contender, r.First)
		}
	}
	for name, want := range map[string]int{"a": 25, "b": 12, "c": 2, "d": 12, "e": 5, "f": 3} {
		if rows[name] != want {
			t.Errorf("%d rows of workload %s, want %d", rows[name], name, want)
		}
	}
	if want := 24; len(results.Aims) != want {
		t.Errorf("%d aims, want %d", len(results.Aims), want)
	}
	for _, name := range []string{"cycles.svg", "faults.svg"} {
		wellFormed(t, filepath.Join(dir, name))
	}
	if t.Failed() {
		t.Log(said.String())
	}
}

func wellFormed(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for err == nil {
		_, err = decoder.Token()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("%s is not well-formed: %v", path, err)
	}
	for _, want := range []string{"<svg", through, redsyncFive} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s does not show %q", path, want)
		}
	}
}

func TestUnknownWorkload(t *testing.T) {
	for _, args := range [][]string{{"-only", "a,z"}, {"-rounds", "0"}, {"-seconds", "0"}, {"what"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// always grants to everybody, which no lock may.
type always struct{}

func (always) take(string) error { return nil }
func (always) free(string) error { return nil }

// In virtual time both hold at once, however busy the machine is.
func TestTwoHoldersAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := fight(fleet{name: "broken", clients: []client{always{}, always{}}}, 50*time.Millisecond, paces[0])
		if err == nil {
			t.Error("two clients held one lock, and nobody saw it")
		}
	})
}

// A workload that fails does not lose the others, and the program says so.
func TestFailedWorkload(t *testing.T) {
	var said strings.Builder
	b := &bench{ctx: t.Context(), rig: &rig{}, out: &said}
	ran := false
	err := b.runAll([]workload{
		{name: "x", run: func(*bench) error { return errors.New("no luck") }},
		{name: "y", run: func(*bench) error { ran = true; return nil }},
	})
	if err == nil || !ran || len(b.notes) != 1 || !strings.Contains(b.notes[0], "no luck") {
		t.Errorf("error %v, the next ran %v, notes %q", err, ran, b.notes)
	}
}
