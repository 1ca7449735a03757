package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/internal/config"
)

// TestDevServesAndStops: -dev starts five embedded masters, serves, and stops without an
// error.
func TestDevServesAndStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &syncBuffer{wanted: "ready", found: cancel}
	var stdout bytes.Buffer
	err := run(ctx, []string{"-dev", "-listen", "127.0.0.1:0"}, &stdout, out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"keep nothing", "serving", "ready", "stopping", "stopped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("does not say %q:\n%s", want, out.String())
		}
	}
}

// TestDevHasAStatusPage: even a second -dev on the same host has one.
func TestDevHasAStatusPage(t *testing.T) {
	at := regexp.MustCompile(`serving metrics, health and readiness: address=(\S+)`)
	seen := map[string]bool{}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ready := make(chan struct{})
		out := &syncBuffer{wanted: "ready", found: func() { close(ready) }}
		ended := make(chan error)
		go func() { ended <- run(ctx, []string{"-dev", "-listen", "127.0.0.1:0"}, io.Discard, out) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		<-ready
		found := at.FindStringSubmatch(out.String())
		if found == nil {
			t.Fatalf("no address for operators:\n%s", out.String())
		}
		seen[found[1]] = true
		reply, err := http.Get("http://" + found[1] + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = reply.Body.Close()
		if kind := reply.Header.Get("Content-Type"); reply.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			t.Errorf("the page is %s, %s", reply.Status, kind)
		}
	}
	for address := range seen {
		if hello := firstEvent(t, "http://"+address+"/events"); !strings.Contains(hello, `"level":"info","text":"serving","fields":[{"key":"address"`) {
			t.Errorf("the page does not have the latest lines of the log: %s", hello)
		}
	}
	if len(seen) != 2 {
		t.Errorf("two of them are at %v", seen)
	}
}

// firstEvent returns the data of the first event that the page sends.
func firstEvent(t *testing.T, url string) string {
	t.Helper()
	reply, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	lines := bufio.NewReader(reply.Body)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return data
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAdminAddressInUse: the default address may be in use, as by a second redlockd of this host
// with the same file; locks are served all the same. One that somebody has chosen may not.
func TestAdminAddressInUse(t *testing.T) {
	taken := func(address string) string {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			return address // by another program, which is as good
		}
		t.Cleanup(func() { _ = ln.Close() })
		return ln.Addr().String()
	}
	out := &syncBuffer{}
	log, _ := newLogger(config.Log{Level: "info"}, out)

	standard := taken("127.0.0.1:9736")
	ln, err := listenAdmin(config.Admin{Address: standard}, log)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if at := ln.Addr().(*net.TCPAddr); !at.IP.IsLoopback() {
		t.Errorf("it serves at %v, want this host only", at)
	}
	if want := "in_use=" + standard; !strings.Contains(out.String(), "[WARN]") || !strings.Contains(out.String(), want) {
		t.Errorf("does not warn of %s: %s", want, out.String())
	}

	if ln, err := listenAdmin(config.Admin{Address: taken("127.0.0.1:0")}, log); err == nil {
		t.Errorf("serves at %v in place of an address that was chosen", ln.Addr())
		_ = ln.Close()
	}
}
