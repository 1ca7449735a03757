package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// result is how a run ended, as its user sees it.
type result struct {
	code           int
	stdout, stderr string
}

func runWith(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), args, &stdout, &stderr)
	return result{exitCode(err), stdout.String(), stderr.String()}
}

func TestUsage(t *testing.T) {
	file := write(t, masters)
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, "expected -config FILE, or -dev"},
		{"unknown flag", []string{"-x"}, "-x"},
		{"argument", []string{"-dev", "now"}, `unexpected argument "now"; a configuration is named by -config FILE`},
		{"dev and config", []string{"-dev", "-config", file}, "-dev and -config cannot be combined"},
		{"dev and bootstrap", []string{"-dev", "-bootstrap"}, "-dev and -bootstrap cannot be combined"},
		{"dev and check", []string{"-dev", "-check"}, "-dev and -check cannot be combined"},
		{"check and bootstrap", []string{"-config", file, "-check", "-bootstrap"}, "-check and -bootstrap"},
		{"listen and bootstrap", []string{"-config", file, "-listen", "127.0.0.1:1", "-bootstrap"}, "-listen and -bootstrap"},
		{"check of nothing", []string{"-check"}, "expected -config FILE"},
		{"no such file", []string{"-config", "no.hcl"}, "no.hcl"},
		{"listen without port", []string{"-dev", "-listen", "127.0.0.1"}, "is not host:port"},
		{"dev for all", []string{"-dev", "-listen", "0.0.0.0:0"}, "listen.password"},
		{"health and config", []string{"-health", "http://127.0.0.1:1/", "-config", file}, "-health cannot be combined with other flags"},
		{"wrong file", []string{"-config", write(t, "log {")}, "test.hcl"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(t, test.args...)
			if got.code != 2 || !strings.Contains(got.stderr, test.want) || got.stdout != "" {
				t.Errorf("exit %d, stdout %q, stderr %q; want 2, nothing, and %q", got.code, got.stdout, got.stderr, test.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	got := runWith(t, "-check", "-config", write(t, masters+`master "d" { address = "10.0.0.4:6379" }`))
	for _, want := range []string{"is valid", "uses 4 masters", "warning:"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("does not say %q: %s", want, got.stdout)
		}
	}
	if got.code != 0 || got.stderr != "" {
		t.Errorf("exit %d, stderr %q", got.code, got.stderr)
	}
}

func TestVersionAndHelp(t *testing.T) {
	if got := runWith(t, "-version"); got.code != 0 || !strings.HasPrefix(got.stdout, "redlockd ") {
		t.Errorf("-version: %+v", got)
	}
	if got := runWith(t, "-help"); got.code != 0 || !strings.Contains(got.stdout, "-bootstrap") {
		t.Errorf("-help: %+v", got)
	}
}

func TestAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	got := runWith(t, "-config", write(t, masters), "-listen", ln.Addr().String())
	if got.code != 1 || !strings.Contains(got.stderr, "address already in use") {
		t.Errorf("exit %d, stderr %q; want 1 and the reason", got.code, got.stderr)
	}
}
