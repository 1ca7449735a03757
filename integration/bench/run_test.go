package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRun is the whole program, briefly: every contender gets through, and
// what is written can be read.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var said strings.Builder
	if err := run(t.Context(), []string{"-only", "a", "-rounds", "1", "-seconds", "0.05", "-out", dir}, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results struct{ Rows []*row }
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	if want := len(clientCounts)*6 + 1; len(results.Rows) != want {
		t.Errorf("%d rows, want %d:\n%s", len(results.Rows), want, said.String())
	}
	for _, r := range results.Rows {
		if r.Figures[perSecond].Median() <= 0 {
			t.Errorf("%s, %s: no cycle; %s", r.Condition, r.Contender, r.First)
		}
	}
	svg, err := os.Open(filepath.Join(dir, "cycles.svg"))
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	wellFormed(t, svg)
}

func wellFormed(t *testing.T, svg io.Reader) {
	t.Helper()
	var all strings.Builder
	decoder := xml.NewDecoder(io.TeeReader(svg, &all))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the chart is not well-formed: %v", err)
		}
	}
	for _, want := range []string{"<svg", through, redsyncFive, "128 clients"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the chart does not show %q", want)
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

func TestTwoHoldersAreSeen(t *testing.T) {
	_, err := fight(fleet{name: "broken", clients: []client{always{}, always{}}}, 50*time.Millisecond, paces[0])
	if err == nil {
		t.Error("two clients held one lock, and nobody saw it")
	}
}
