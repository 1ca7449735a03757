package main

import (
	"net"
	"strings"
	"testing"
)

// TestHealth asks a redlockd of which one master votes and two are needed:
// alive, and not ready.
func TestHealth(t *testing.T) {
	_, url := startAdmin(t, "secret", threeMasters())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	for _, test := range []struct {
		name, url    string
		code         int
		said, stdout string
	}{
		{"alive", url + "/healthz", 0, "", "alive\n"},
		{"not ready", url + "/readyz", 1, "503 Service Unavailable: not ready", ""},
		{"a password is needed", url + "/metrics", 1, "401", ""},
		{"nobody there", "http://" + nobody + "/healthz", 1, "refused", ""},
		{"no URL", "127.0.0.1:9736", 2, "expects a URL", ""},
		{"no HTTP", "ftp://127.0.0.1/healthz", 2, "expects a URL", ""},
	} {
		got := runWith(t, "-health", test.url)
		if got.code != test.code || !strings.Contains(got.stderr, test.said) || got.stdout != test.stdout {
			t.Errorf("%s: %+v, want exit %d, %q and %q", test.name, got, test.code, test.said, test.stdout)
		}
	}
}
