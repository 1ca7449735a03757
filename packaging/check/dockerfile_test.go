package check

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// dockerStages reads the Dockerfile as docker build does, with all of BuildKit's
// complaints.
func dockerStages(t *testing.T) []instructions.Stage {
	t.Helper()
	parsed, err := parser.Parse(bytes.NewReader(read(t, "../docker/Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("line %v: %s", w.Location, w.Short)
	}
	complain := func(rule, _, _, said string, at []parser.Range) { t.Errorf("%v: %s: %s", at, rule, said) }
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{Warn: complain}))
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

// TestDockerfile: the image's last stage only copies, and runs redlockd as a user.
func TestDockerfile(t *testing.T) {
	stages := dockerStages(t)
	final := stages[len(stages)-1]
	var user, copies string
	var argv []string
	for _, command := range final.Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.CopyCommand:
			copies += strings.Join(c.SourcePaths, " ") + " "
		case *instructions.EntrypointCommand:
			argv = append(argv, c.CmdLine...)
		case *instructions.CmdCommand:
			argv = append(argv, c.CmdLine...)
		case *instructions.RunCommand:
			t.Error("the image has no shell to run anything with")
		}
	}
	if user == "" || strings.HasPrefix(user, "0") || strings.HasPrefix(user, "root") {
		t.Errorf("runs as %q", user)
	}
	if !slices.Equal(argv, []string{"/usr/local/bin/redlockd", "-config", "/etc/redlockd/config.hcl"}) {
		t.Errorf("runs %q", argv)
	}
	if !strings.Contains(copies, "/redlockd ") || !strings.Contains(copies, "LICENSES-OF-MODULES") {
		t.Errorf("copies only %s", copies)
	}
}

// dockerContext tells which files are sent to docker build.
func dockerContext(t *testing.T) (sent func(path string) bool) {
	t.Helper()
	patterns, err := ignorefile.ReadAll(bytes.NewReader(read(t, "../docker/Dockerfile.dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) bool {
		skip, err := ignored.MatchesOrParentMatches(path)
		if err != nil {
			t.Fatal(err)
		}
		return !skip
	}
}

// TestDockerContext: what is sent to the build is what the build reads, and
// nothing that may hold a secret.
func TestDockerContext(t *testing.T) {
	sent := dockerContext(t)
	for _, path := range []string{".git/config", ".env", "my.hcl", "packaging/compose/.env", "packaging/compose/config/config.hcl", "dist/a.tar.gz", "integration/doc.go"} {
		if sent(path) {
			t.Errorf("%s is sent", path)
		}
	}
	files := []string{"go.mod", "go.sum", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "config.hcl", "packaging/systemd/redlockd.service"}
	for _, pattern := range []string{"*.go", "proxy/*.go", "quorum/*.go", "commands/*.go", "commands/*/*.go", "internal/*/*.go", "status/*.go", "docs/*", "packaging/release/*.go", "packaging/licences/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		for _, name := range found {
			path, _ := filepath.Rel(root, name)
			files = append(files, filepath.ToSlash(path))
		}
	}
	for _, path := range files {
		if !sent(path) {
			t.Errorf("%s is not sent", path)
		}
	}
	// Folders of Go files that came later.
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		path, _ := filepath.Rel(root, name)
		folder, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		if !slices.Contains([]string{"integration", "packaging", "bin", "dist", ".deps"}, folder) && !sent(filepath.ToSlash(path)) {
			t.Errorf("%s is not sent", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
