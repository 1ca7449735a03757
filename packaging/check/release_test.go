package check

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRelease makes this system's archive twice, from two folders, and looks
// into it.
func TestRelease(t *testing.T) {
	elsewhere := t.TempDir()
	copySources(t, elsewhere)
	first, second := release(t, root), release(t, elsewhere)
	if !bytes.Equal(first, second) {
		t.Error("two releases of the same sources have other bytes")
	}
	zip, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(h.Name) == "redlockd" && h.Mode == 0o755 {
			text, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(t.TempDir(), "redlockd")
			if err := os.WriteFile(path, text, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.Command(path, "-version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "redlockd v0.0.0-test") {
		t.Errorf("-version: %q, %v", out, err)
	}
	if runtime.GOOS == "linux" {
		program, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		for _, p := range program.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("it is not static: it wants a loader")
			}
		}
	}
}

// copySources copies what is sent to docker build, which is what a release is
// made from.
func copySources(t *testing.T, to string) {
	t.Helper()
	sent := dockerContext(t)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil || !sent(filepath.ToSlash(path)) {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(path)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), read(t, name), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// release is the archive made from this folder, in a time that is not now.
func release(t *testing.T, dir string) []byte {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./packaging/release", "-version", "v0.0.0-test",
		"-only", runtime.GOOS+"/"+runtime.GOARCH, "-out", out)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1800000000")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release: %v\n%s", err, text)
	}
	found, err := filepath.Glob(filepath.Join(out, "*.tar.gz"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return read(t, found[0])
}
