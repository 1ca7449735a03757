package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"
)

// TestPack: an archive holds what was put into it, in one order, and is the
// same at any time.
func TestPack(t *testing.T) {
	files := []file{{"redlockd", []byte("program"), 0o755}, {"docs/a.md", []byte("text"), 0o644}, {"LICENSE", nil, 0o644}}
	when := time.Unix(1700000000, 0).UTC()
	packed, err := pack("redlockd-v1", files, when)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	again, err := pack("redlockd-v1", files, when)
	if err != nil || !bytes.Equal(packed, again) {
		t.Errorf("the same files in another order give other bytes, %v", err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(when) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s: %v, owner %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		got = append(got, fmt.Sprintf("%s %o %s", h.Name, h.Mode, text))
	}
	want := []string{"redlockd-v1/LICENSE 644 ", "redlockd-v1/docs/a.md 644 text", "redlockd-v1/redlockd 755 program"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if rest, err := io.ReadAll(zip); err != nil || len(rest) > 0 {
		t.Errorf("%d more bytes, %v", len(rest), err)
	}
}

// TestDocuments: what the README links to is in the archive.
func TestDocuments(t *testing.T) {
	t.Chdir("../..")
	for goos, want := range map[string]bool{"linux": true, "darwin": false} {
		files, err := target{goos, "amd64"}.documents()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, f := range files {
			names[f.name] = len(f.text) > 0
		}
		for _, name := range []string{"LICENSE", "README.md", "config.hcl", "docs/operations.md"} {
			if !names[name] {
				t.Errorf("%s: no %s", goos, name)
			}
		}
		if got := names["packaging/systemd/redlockd.service"]; got != want {
			t.Errorf("%s: unit for systemd: %v", goos, got)
		}
	}
}
