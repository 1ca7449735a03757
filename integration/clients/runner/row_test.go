package main

import (
	"strings"
	"testing"
)

// gave is an outcome of steps a, b, c, ... with these results.
func gave(failure string, results ...any) outcome {
	o := outcome{results: map[string]any{}, failure: failure}
	for i, r := range results {
		step := string(rune('a' + i))
		o.steps = append(o.steps, step)
		o.results[step] = r
	}
	return o
}

func TestStatus(t *testing.T) {
	good := gave("", true, "one", 1.0)
	tests := []struct {
		name        string
		missing     string
		redis, well outcome
		dead        outcome
		want        status
		says        string
	}{
		{"all equal", "", good, good, good, ok, ""},
		{"not installed", "no runtime", outcome{}, outcome{}, outcome{}, missing, "no runtime"},
		{"other with two dead", "", good, good, gave("", true, "two", 1.0), differs, `two dead, b: redis "one", redlockd "two"`},
		{"other in both", "", good, gave("", true, nil, 1.0), gave("", true, nil, 1.0), differs, `both, b: redis "one", redlockd null`},
		{"other type", "", good, gave("", true, "one", "1"), good, differs, `all well, c: redis 1, redlockd "1"`},
		{"hangs", "", good, gave("hangs after \"a\"", true), good, differs, `all well, b: redis "one", redlockd hangs after "a"`},
		{"ends badly behind the last step", "", good, gave("exit status 1", true, "one", 1.0), good, differs, "exit status 1"},
		{"more than Redis said", "", gave("exit status 1", true), good, good, broken, "exit status 1"},
		{"a step that fails against Redis", "", gave("", "FAILED x"), gave("", "FAILED x"), gave("", "FAILED x"), broken, "FAILED x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := row{missing: tt.missing, runs: []outcome{tt.redis, tt.well, tt.dead}}
			if got := r.status(); got != tt.want {
				t.Errorf("status %s, want %s", got, tt.want)
			}
			if got := r.line(); !strings.Contains(got, tt.says) {
				t.Errorf("the line is %q, want %q in it", got, tt.says)
			}
		})
	}
}

// A library that cannot be served has to be refused with the error that is said, at once and
// in both clusters.
func TestRefused(t *testing.T) {
	good, refusal := gave("", true, "one"), &refusal{Error: "unknown command 'INCR'"}
	no, other := gave("", true, "FAILED unknown command 'INCR', with"), gave("", true, "FAILED something else")
	for _, tt := range []struct {
		name              string
		redis, well, dead outcome
		want              status
	}{
		{"refused", good, no, no, refused},
		{"served", good, good, good, differs},
		{"served by one", good, no, good, differs},
		{"another error", good, other, other, differs},
		{"hangs", good, gave("hangs after \"a\"", true), no, differs},
		{"broken", other, other, other, broken},
	} {
		if got := (row{runs: []outcome{tt.redis, tt.well, tt.dead}, refused: refusal}).status(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Every bench.json can be read, and what is refused is so for a reason.
func TestBenches(t *testing.T) {
	benches, err := loadBenches("..")
	if err != nil || len(benches) == 0 {
		t.Fatalf("%d languages: %v", len(benches), err)
	}
	for _, b := range benches {
		for _, p := range b.Programs {
			if p.Refused != nil && (p.Refused.Error == "" || p.Refused.Why == "") {
				t.Errorf("%s/%s is refused without an error or a reason", b.Language, p.Name)
			}
		}
	}
}

func TestOutOfTime(t *testing.T) {
	good, late, wrong := gave("", true, "one"), gave("", true, "FAILED NOQUORUM 2 of 5"), gave("", true, "two")
	for _, tt := range []struct {
		name       string
		well, dead outcome
		want       bool
	}{
		{"as Redis", good, good, false},
		{"NOQUORUM", good, late, true},
		{"hangs behind it", good, gave("exit status 1 after \"a\": NOQUORUM", true), true},
		{"wrong", wrong, good, false},
		{"wrong, and NOQUORUM", wrong, late, false},
	} {
		if got := (row{runs: []outcome{good, tt.well, tt.dead}}).outOfTime(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTakeTurns(t *testing.T) {
	one, two := &Bench{Language: "one"}, &Bench{Language: "two"}
	jobs := []*job{{bench: one, program: Program{Name: "a"}}, {bench: one, program: Program{Name: "b", Login: true}},
		{bench: one, program: Program{Name: "c"}}, {bench: two, program: Program{Name: "d"}}}
	takeTurns(jobs)
	order := ""
	for _, j := range jobs {
		order += j.program.Name
	}
	if order != "adcb" {
		t.Errorf("the order is %s, want adcb: each language first, and passwords last", order)
	}
}

func TestJudgeCountsMissingApart(t *testing.T) {
	var out strings.Builder
	good := []outcome{gave("", 1), gave("", 1), gave("", 1)}
	if err := judge([]row{{runs: good}, {missing: "no runtime"}}, &out); err != nil {
		t.Errorf("judge: %v", err)
	}
	if want := "1 ok, 0 refused, 0 differ, 0 broken, 1 missing\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	if judge([]row{{runs: []outcome{gave("", 1), gave("", 2), gave("", 1)}}}, &out) == nil {
		t.Error("a difference is no error")
	}
}

func TestSumUp(t *testing.T) {
	good := []outcome{gave("", 1), gave("", 1), gave("", 1)}
	var out strings.Builder
	sumUp([]row{
		{language: "Go", runs: good}, {language: "Java", missing: "no javac"},
		{language: "Go", runs: good}, {language: "Java", missing: "no javac"}, {language: "Java", missing: "no mvn"},
	}, &out)
	want := "Go         2 ok,  0 refused,  0 missing\nJava       0 ok,  0 refused,  3 missing\n          no javac\n          no mvn\n"
	if out.String() != want {
		t.Errorf("it says\n%s, want\n%s", out.String(), want)
	}
}
