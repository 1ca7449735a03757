package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/packaging/licences"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "what redlockd says that it is")
	out := flags.String("out", "dist", "the folder to make")
	only := flags.String("only", "", "one system, as linux/amd64; all of them without it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || strings.ContainsAny(*version, "/ ") {
		return fmt.Errorf("expected -version, got %q", *version)
	}
	when, err := sourceTime()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(*out); err != nil { // an old archive must not be taken for a new one
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, t := range targets {
		if *only != "" && *only != t.String() {
			continue
		}
		name := fmt.Sprintf("redlockd-%s-%s-%s", *version, t.goos, t.goarch)
		packed, err := release(t, *version, name, when)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := os.WriteFile(filepath.Join(*out, name+".tar.gz"), packed, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s.tar.gz\n", sha256.Sum256(packed), name)
	}
	if sums.Len() == 0 {
		return fmt.Errorf("no system is called %q", *only)
	}
	fmt.Fprint(stdout, sums.String())
	return os.WriteFile(filepath.Join(*out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// release is the archive for one system.
func release(t target, version, name string, when time.Time) ([]byte, error) {
	program, err := t.build(version)
	if err != nil {
		return nil, err
	}
	modules, err := licences.Linked(".", t.goos, t.goarch)
	if err != nil {
		return nil, err
	}
	if problems := licences.Problems(modules); len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	files, err := t.documents()
	if err != nil {
		return nil, err
	}
	files = append(files,
		file{"redlockd", program, 0o755},
		file{"LICENSES-OF-MODULES", []byte(licences.Text(modules)), 0o644})
	return pack(name, files, when)
}

// sourceTime is what all files of the archives are dated: SOURCE_DATE_EPOCH,
// else the last commit, else 1970, never now.
func sourceTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Unix(0, 0).UTC(), nil // no checkout
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the sources: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
