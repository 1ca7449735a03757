package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// target is a system that redlockd is released for.
type target struct{ goos, goarch string }

var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
}

func (t target) String() string { return t.goos + "/" + t.goarch }

// build is the program. Everything of the environment that would change its
// bytes is set here.
func (t target) build(version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "redlockd-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "redlockd")
	cmd := exec.Command("go", "build",
		"-trimpath",                           // no folder of this machine
		"-pgo=packaging/release/redlockd.pgo", // make pgo takes it
		"-buildvcs=false",                     // an unpacked archive of the sources has no git
		"-ldflags", "-s -w -X main.version="+version,
		"-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.goos, "GOARCH="+t.goarch,
		"GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	return os.ReadFile(path)
}

// documents are the files of the sources that go along: what the README
// names, and on Linux the unit for systemd.
func (t target) documents() ([]file, error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "config.hcl"}
	docs, err := filepath.Glob("docs/*")
	if err != nil {
		return nil, err
	}
	for _, name := range docs {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, filepath.ToSlash(name))
		}
	}
	if t.goos == "linux" {
		names = append(names, "packaging/systemd/redlockd.service")
	}
	slices.Sort(names)
	var files []file
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, text, 0o644})
	}
	return files, nil
}
