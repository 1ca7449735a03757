// Model checks lock.pml and beat.pml with spin, once for each case of cases.go, and expects
// what the case says: that nothing is found with the rules in, and a second
// holder, or a dishonest reply, with one of them left out. See README.md.
//
// It needs spin and a C compiler. Run it from the top of the tree: make model.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// kept is where the trails go, below what git ignores.
const kept = "bin/model"

func main() {
	only := flag.String("only", "", "run the cases whose name contains this")
	jobs := flag.Int("j", 2, "how many cases run at a time")
	limit := flag.Duration("limit", 10*time.Minute, "what a case may take")
	flag.Parse()
	if err := os.MkdirAll(kept, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		os.Exit(1)
	}
	began := time.Now()
	wrong, done := runAll(*only, *jobs, *limit)
	fmt.Printf("%d as expected, %d not, in %v\n", done-wrong, wrong, time.Since(began).Round(time.Second))
	if wrong > 0 || done == 0 {
		os.Exit(1)
	}
}

// runAll runs the cases side by side and prints each when it and those before
// it are done.
func runAll(only string, jobs int, limit time.Duration) (wrong, done int) {
	turns := make(chan struct{}, jobs)
	var lines []chan line
	var all sync.WaitGroup
	for _, c := range cases {
		if !strings.Contains(c.name, only) {
			continue
		}
		out := make(chan line, 1)
		lines = append(lines, out)
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			out <- report(c, c.run(ctx))
		})
	}
	for _, out := range lines {
		l := <-out
		fmt.Println(l.text)
		done++
		if l.wrong {
			wrong++
		}
	}
	all.Wait()
	return wrong, done
}

// line is what is printed of a case.
type line struct {
	text  string
	wrong bool
}

func report(c modelCase, r result) line {
	verdict := "ok   "
	wrong := r.err != nil || r.found != c.want
	if wrong {
		verdict = "WRONG"
	}
	what := string(r.found)
	switch {
	case r.err != nil:
		what = "error: " + r.err.Error()
	case r.found != holds:
		what = fmt.Sprintf("%s in %d steps", r.found, r.steps)
	}
	text := fmt.Sprintf("%s %-32s %-28s %9d states %5.1fs", verdict, c.name, what, r.states, r.seconds)
	if r.trail != "" {
		text += "  " + r.trail
	}
	return line{text, wrong}
}
