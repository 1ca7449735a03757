package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHealth: the exit code shows whether redlockd is well, and whether the URL was
// valid.
func TestHealth(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alive\n")) }))
	defer well.Close()
	ill := httptest.NewServer(http.NotFoundHandler())
	defer ill.Close()
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
		{"alive", well.URL + "/healthz", 0, "", "alive\n"},
		{"not well", ill.URL + "/healthz", 1, "health: 404", ""},
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
