package admin

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"testing"
)

// TestAskHealth asks a redlockd of which one master votes and two are needed: it is
// alive, and not ready.
func TestAskHealth(t *testing.T) {
	_, base := startAdmin(t, "secret", threeMasters())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	ln.Close()
	for _, test := range []struct{ name, url, problem, stdout string }{
		{"alive", base + "/healthz", "", "alive\n"},
		{"not ready", base + "/readyz", "503 Service Unavailable: not ready", ""},
		{"a password is needed", base + "/metrics", "401", ""},
		{"nobody there", "http://" + nobody + "/healthz", "refused", ""},
	} {
		address, err := url.Parse(test.url)
		if err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		err = AskHealth(t.Context(), address, &stdout)
		if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
			t.Errorf("%s: error is %v, want %q", test.name, err, test.problem)
		}
		if got := stdout.String(); got != test.stdout {
			t.Errorf("%s: prints %q, want %q", test.name, got, test.stdout)
		}
	}
}
