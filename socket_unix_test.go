//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestUnixSocketTakesItsPlace: a socket that was left behind makes way, and nothing else does.
func TestUnixSocketTakesItsPlace(t *testing.T) {
	stale := func(t *testing.T, path string) {
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		ln.SetUnlinkOnClose(false)
		ln.Close()
	}
	tests := []struct {
		name  string
		there func(*testing.T, string)
		want  string // in the error
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"left behind", stale, ""},
		{"in use", func(t *testing.T, path string) {
			ln, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { ln.Close() })
		}, "is in use"},
		{"a file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is there and is no socket"},
		{"a link to a socket that was left behind", func(t *testing.T, path string) {
			stale(t, path+".other")
			if err := os.Symlink(path+".other", path); err != nil {
				t.Fatal(err)
			}
		}, "is there and is no socket"},
		{"no folder", func(t *testing.T, path string) { os.Remove(filepath.Dir(path)) }, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "s")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			test.there(t, path)
			before, _ := os.Lstat(path)
			ln, err := listenUnix(path, 0o660)
			if test.want != "" {
				after, _ := os.Lstat(path)
				if err == nil || !strings.Contains(err.Error(), test.want) || before != nil && !os.SameFile(before, after) {
					t.Errorf("it says %v, want %q, and leaves what is there", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c, err := net.Dial("unix", path); err != nil {
				t.Error(err)
			} else {
				c.Close()
			}
			ln.Close()
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("the socket is still there: %v", err)
			}
		})
	}
}

// TestUnixSocketMode: those may connect that the setting says, whatever the umask.
func TestUnixSocketMode(t *testing.T) {
	dir := t.TempDir()
	for _, mask := range []int{0, 0o077, 0o777} {
		for _, mode := range []os.FileMode{0o600, 0o660, 0o777} {
			before := syscall.Umask(mask)
			path := filepath.Join(dir, "s")
			ln, err := listenUnix(path, mode)
			syscall.Umask(before)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Lstat(path)
			if err != nil || file.Mode().Perm() != mode {
				t.Errorf("with umask %o the mode is %v (%v), want %v", mask, file.Mode(), err, mode)
			}
			ln.Close()
		}
	}
}

// TestUnixSocketGoesWithAnEarlyStop: a stop before a majority was found leaves no socket.
func TestUnixSocketGoesWithAnEarlyStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	file := write(t, fmt.Sprintf("listen {\n address = \"\"\n unix = %q\n}\nmaster \"a\" {\n address = \"127.0.0.1:1\"\n}\n", path))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, []string{"-config", file}, io.Discard, io.Discard) }()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}
