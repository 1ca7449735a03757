package licences

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Module is one module that a build uses, with the licences in it.
type Module struct {
	Path, Version string
	// Licences are SPDX names, sorted; empty where none was recognised.
	Licences []string
	// Files are the module's licences and notices, sorted by Name.
	Files []File
}

// File is one licence or notice.
type File struct {
	Name string // within the module
	Text string
}

// fileName is what licences and notices are called.
var fileName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)s?([.-].*)?$`)

// notOfProgram are the endings of files that are none: code, and licences of
// texts about it.
var notOfProgram = map[string]bool{".go": true, ".docs": true}

// goPackage is what go list tells of a package.
type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// Linked are the modules that redlockd's own build for a system links, with
// Go's library among them as "std". dir is the root of the sources.
func Linked(dir, goos, goarch string) ([]Module, error) {
	return list(dir, []string{"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0"}, ".")
}

// Used are the modules that the program, its tests and its tools are made of,
// on this system.
func Used(dir string) ([]Module, error) {
	return list(dir, nil, "-test", "./...", "tool")
}

func list(dir string, env []string, what ...string) ([]Module, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Standard,Module"}, what...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(what, " "), err)
	}
	found := map[string]*gathered{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		if err := gather(found, p); err != nil {
			return nil, err
		}
	}
	std, err := standard(found)
	if err != nil {
		return nil, err
	}
	modules := []Module{std}
	for _, g := range found {
		modules = append(modules, g.module())
	}
	slices.SortFunc(modules, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	return modules, nil
}

// gathered is a module while its packages are gone through.
type gathered struct {
	path, version string
	files         map[string]string
}

// gather adds the licences of the package's folder and of those above it: a
// package may have come from elsewhere, with a licence of its own.
func gather(found map[string]*gathered, p goPackage) error {
	g := found[p.Module.Path]
	if g == nil {
		g = &gathered{p.Module.Path, p.Module.Version, map[string]string{}}
		found[p.Module.Path] = g
	}
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if err := g.add(p.Module.Dir, dir); err != nil {
			return err
		}
		if dir == p.Module.Dir || len(dir) <= len(p.Module.Dir) {
			return nil
		}
	}
}

func (g *gathered) add(root, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for licences: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || !fileName.MatchString(e.Name()) || notOfProgram[filepath.Ext(e.Name())] {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read licence: %w", err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		g.files[filepath.ToSlash(name)] = string(text)
	}
	return nil
}

func (g *gathered) module() Module {
	m := Module{Path: g.path, Version: g.version}
	names := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		m.Files = append(m.Files, File{name, g.files[name]})
		for _, match := range licensecheck.Scan([]byte(g.files[name])).Match {
			if match.ID != "GooglePatentsFile" { // a grant beside the licence, and no licence
				names[match.ID] = true
			}
		}
	}
	m.Licences = slices.Sorted(maps.Keys(names))
	return m
}

// standard is Go's own library, which is in every program. Some packages of Go
// put its licence elsewhere; that of golang.org/x/sys, which redlockd links, is
// the same.
func standard(found map[string]*gathered) (Module, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return Module{}, fmt.Errorf("go env: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	g := gathered{"std", version, map[string]string{}}
	if err := g.add(root, root); err != nil {
		return Module{}, err
	}
	if same := found["golang.org/x/sys"]; len(g.files) == 0 && same != nil {
		g.files = same.files
	}
	return g.module(), nil
}
