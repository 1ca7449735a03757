package journal

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger returns a logger at this level whose lines go to a Journal.
func logger(level hclog.Level) (hclog.Logger, *Journal) {
	log := hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: level, Output: io.Discard})
	j := New()
	log.RegisterSink(j)
	return log, j
}

func TestLinesAreThoseOfTheLog(t *testing.T) {
	log, j := logger(hclog.Error)
	before := time.Now()
	log.Named("quorum").With("master", "a").Warn("master is down", "reason", errors.New("EOF"), "wait", 2*time.Second)
	log.Debug("for debugging")
	log.Info("ready", "voting", 3)
	got := j.Latest(10)
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	for _, line := range got {
		if line.Time.Before(before) || line.Time.After(time.Now()) {
			t.Errorf("%q was logged at %v", line.Text, line.Time)
		}
	}
	got[0].Time, got[1].Time = time.Time{}, time.Time{}
	want := []Line{
		{Level: "info", Text: "ready", Fields: []Field{{"voting", "3"}}},
		{Level: "warn", Text: "master is down", Fields: []Field{{"master", "a"}, {"reason", "EOF"}, {"wait", "2s"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestJournalIsBounded(t *testing.T) {
	log, j := logger(hclog.Info)
	if got := j.Latest(5); len(got) != 0 {
		t.Errorf("an empty one has %+v", got)
	}
	for i := range maxLines + 3 {
		log.Info("line", "i", i)
	}
	for _, most := range []int{0, 1, maxLines, 2 * maxLines} {
		got := j.Latest(most)
		if len(got) != min(most, maxLines) {
			t.Errorf("%d of %d lines", len(got), most)
		}
		for i, line := range got {
			if want := fmt.Sprint(maxLines + 2 - i); line.Fields[0].Value != want {
				t.Fatalf("line %d of %d is %s, want %s", i, most, line.Fields[0].Value, want)
			}
		}
	}
	args := make([]any, 0, 100)
	for range 50 {
		args = append(args, "key", strings.Repeat("é", maxValue))
	}
	log.Info("long", args...)
	long := j.Latest(1)[0].Fields
	if want := strings.Repeat("é", maxValue/2) + "..."; len(long) != maxFields || long[0].Value != want {
		t.Errorf("%d fields, the first is %q", len(long), long[0].Value)
	}
}
