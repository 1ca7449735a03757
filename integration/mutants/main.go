// Mutants takes rules out of redlockd, one at a time, and expects the tests to
// turn red. A mutant that lives is a rule that no test guards.
//
// It changes nothing in the tree: each mutation is an overlay for the
// compiler (go test -overlay). It runs the package's tests in virtual time, so
// all of it takes minutes. Run it from the top of the tree: make mutants.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// tests is a pattern of the tests that are run; all when empty.
var tests string

func main() {
	only := flag.String("only", "", "run the mutants whose rule and name, as in \"V6 late scripts act\", match this regular expression")
	flag.StringVar(&tests, "run", "", "run only the tests that match this, for a quick look")
	binary := flag.String("binary", "", "build redlockd with the mutants that -only names, joined by ' + ', and run nothing")
	storms := flag.String("storms", "", "build the storms (quorum/storms) with them likewise")
	flag.Parse()
	if *binary != "" || *storms != "" {
		if err := build(*only, *binary, *storms); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(1)
		}
		return
	}
	lived, caught, err := run(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	fmt.Printf("%d caught, %d lived\n", caught, lived)
	if lived > 0 || caught == 0 {
		os.Exit(1)
	}
}

// build makes a program of a mutant, for REDLOCKD_BINARY: does the bench of
// faults see it? Or the program of the storms: does the simulator? Several names
// joined by " + " are one mutant without all of these rules.
func build(names, binary, storms string) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var m mutant
	for name := range strings.SplitSeq(names, " + ") {
		i := slices.IndexFunc(mutants, func(m mutant) bool { return m.name == name })
		if i < 0 {
			return fmt.Errorf("no mutant has the name %q", name)
		}
		m.changes = append(m.changes, mutants[i].changes...)
	}
	overlay, err := m.overlay(dir)
	if err != nil {
		return err
	}
	args := []string{"build", "-o", binary, "-overlay", overlay, "."}
	if storms != "" {
		args = []string{"test", "-c", "-o", storms, "-overlay", overlay, "./quorum/storms"}
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// run tries the mutants, as many at a time as there are processors.
func run(only string) (lived, caught int, err error) {
	which, err := regexp.Compile(only)
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, m := range mutants {
		if !which.MatchString(m.rule + " " + m.name) {
			continue
		}
		group.Go(func() error {
			by, err := m.run(filepath.Join(dir, strconv.Itoa(i)))
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if by == "" {
				lived++
				fmt.Printf("LIVED   %-6s %s\n", m.rule, m.name)
				return nil
			}
			caught++
			fmt.Printf("caught  %-6s %-52s %s\n", m.rule, m.name, by)
			return nil
		})
	}
	err = group.Wait()
	return lived, caught, err
}

// mutant is one rule left out: old text that must stand once in a file, and
// what takes its place.
type mutant struct {
	rule, name string
	changes    []change
	// pkg is where the tests are; of several packages the nearest comes first.
	pkg string
}

type change struct{ file, old, new string }

// run applies the mutant and returns the first test that fails, or none. The
// tests that bear the rule's name come first, since most mutants end there.
// Random storms are not among them, since they do not find the same thing twice.
func (m *mutant) run(dir string) (caughtBy string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "test")
	patterns := []string{"^Test" + m.rule + "[^0-9]", ""}
	if tests != "" {
		patterns = []string{tests}
	}
	for _, pkg := range strings.Fields(m.pkg) {
		if out, err := exec.Command("go", "test", "-c", "-o", binary, "-overlay", overlay, pkg).CombinedOutput(); err != nil {
			return "", fmt.Errorf("does not compile: %w\n%s", err, out)
		}
		for _, pattern := range patterns {
			if by := failing(binary, pkg, pattern); by != "" {
				return by, nil
			}
		}
	}
	return "", nil
}

// failing returns the first test that fails among those that match a pattern.
func failing(binary, pkg, pattern string) string {
	limit := "300s" // a rule's tests take a minute at most; some mutants make one run for ever
	if pattern == "" {
		limit = "600s"
	}
	test := exec.Command(binary, "-test.failfast", "-test.timeout", limit, "-test.run", pattern)
	test.Dir = pkg
	test.Env = append(os.Environ(), "GOGC=2000") // a fifth less time
	out, err := test.CombinedOutput()
	if err == nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
	}
	return "a test that hangs or panics"
}

// replaced returns the changed files' texts, by path.
func (m *mutant) replaced() (map[string]string, error) {
	changed := map[string]string{}
	for _, c := range m.changes {
		if changed[c.file] == "" {
			text, err := os.ReadFile(c.file)
			if err != nil {
				return nil, err
			}
			changed[c.file] = string(text)
		}
		if n := strings.Count(changed[c.file], c.old); n != 1 {
			return nil, fmt.Errorf("%s holds its text %d times, expected once:\n%s", c.file, n, c.old)
		}
		changed[c.file] = strings.Replace(changed[c.file], c.old, c.new, 1)
	}
	return changed, nil
}

// overlay writes the changed files and the list of them.
func (m *mutant) overlay(dir string) (string, error) {
	changed, err := m.replaced()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		from, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[from] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}
