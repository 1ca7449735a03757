package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/certtest"
	"github.com/redlockd/redlockd/quorum"
)

// named returns the files as a block names them.
func named(f certtest.Files) Files { return Files{Cert: f.Cert, Key: f.Key, CA: f.CA} }

// opened returns the certificates of one listener, and their log.
func opened(t *testing.T, files certtest.Files) (*Store, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Output: &out})
	certs, err := Open(Blocks{"listen": named(files)}, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	return certs, &out
}

// shake makes both sides shake hands, and returns the server certificate that the client
// saw and both sides' errors.
func shake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	result := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			defer conn.Close()
			err = tls.Server(conn, server).Handshake()
		}
		result <- err
	}()
	raw, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn := tls.Client(raw, client)
	err = conn.Handshake()
	state := conn.ConnectionState()
	raw.Close()
	return state, errors.Join(err, <-result)
}

// serverName returns the name in the listener's certificate.
func serverName(t *testing.T, certs *Store) string {
	t.Helper()
	state, err := shake(t, certs.of("listen").server(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	return state.PeerCertificates[0].Subject.CommonName
}

func TestChangedFilesAreTaken(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	files := ca.Files(t, "one")
	files.CA = ""
	certs, out := opened(t, files)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go certs.Watch(ctx)
		ca.Write(t, files, "two")
		time.Sleep(2*period + time.Millisecond)
		synctest.Wait()
	})
	if got := serverName(t, certs); got != "two" {
		t.Errorf("the listener is %q, want two\n%s", got, out)
	}
	if !strings.Contains(out.String(), "certificates loaded: blocks=listen ") {
		t.Errorf("does not say so: %s", out)
	}
}

func TestWrongNewFilesKeepTheOld(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	files := ca.Files(t, "one")
	files.CA = ""
	certs, out := opened(t, files)
	if err := os.WriteFile(files.Key, []byte("half a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	certs.look()
	if out.Len() > 0 {
		t.Errorf("a change is taken before it has settled: %s", out)
	}
	for range 3 {
		certs.look()
	}
	if n := strings.Count(out.String(), "[ERROR]"); n != 1 || !strings.Contains(out.String(), "key.pem") {
		t.Errorf("%d errors, want one that names the file: %s", n, out)
	}
	if got := serverName(t, certs); got != "one" {
		t.Errorf("the listener is %q, want one", got)
	}
	ca.Write(t, files, "two")
	certs.look()
	certs.look()
	if got := serverName(t, certs); got != "two" {
		t.Errorf("after the right files the listener is %q, want two", got)
	}
}

func TestClientCertificates(t *testing.T) {
	ours, others := certtest.NewAuthority(t, "ours"), certtest.NewAuthority(t, "others")
	certs, _ := opened(t, ours.Files(t, "locks"))
	server := certs.of("listen").server()
	none := &tls.Config{InsecureSkipVerify: true}
	if _, err := shake(t, server, none); err == nil {
		t.Error("a client without a certificate is let in")
	}
	for name, test := range map[string]struct {
		by  *certtest.Authority
		let bool
	}{"ours": {ours, true}, "others": {others, false}} {
		f := test.by.Files(t, "client")
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			t.Fatal(err)
		}
		_, err = shake(t, server, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})
		if (err == nil) != test.let {
			t.Errorf("a client signed by %s: %v", name, err)
		}
	}
}

// TestMastersAreVerified: the replacement of Go's own verification is as strict.
func TestMastersAreVerified(t *testing.T) {
	ours, others := certtest.NewAuthority(t, "ours"), certtest.NewAuthority(t, "others")
	tests := []struct {
		name, address, serverName string
		by                        *certtest.Authority
		want                      string // the error; empty for none
	}{
		{"by address", "127.0.0.1:1", "", ours, ""},
		{"by name", "master.example:1", "", ours, ""},
		{"by server_name", "10.0.0.1:1", "master.example", ours, ""},
		{"another address", "127.0.0.2:1", "", ours, "127.0.0.2"},
		{"another name", "other.example:1", "", ours, "other.example"},
		{"another server_name", "127.0.0.1:1", "other.example", ours, "other.example"},
		{"another authority", "127.0.0.1:1", "", others, "unknown authority"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := test.by.Files(t, "master.example")
			pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
			if err != nil {
				t.Fatal(err)
			}
			blocks := Blocks{"master.a": {CA: ours.Files(t, "x").CA, ServerName: test.serverName}}
			masters := []quorum.Master{{Name: "a", Address: test.address}}
			certs, err := Open(blocks, masters, hclog.NewNullLogger())
			if err != nil {
				t.Fatal(err)
			}
			client := certs.Masters(masters)[0].TLS
			_, err = shake(t, &tls.Config{Certificates: []tls.Certificate{pair}}, client)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

// TestReloadKeepsAskingForCertificates: an address that is open because of client_ca
// stays open until the next start, so client_ca stays too.
func TestReloadKeepsAskingForCertificates(t *testing.T) {
	files := certtest.NewAuthority(t, "ca").Files(t, "locks")
	certs, _ := opened(t, files)
	files.CA = ""
	certs.Reload(Blocks{"listen": named(files)}, nil)
	if _, err := shake(t, certs.of("listen").server(), &tls.Config{InsecureSkipVerify: true}); err == nil {
		t.Error("a client without a certificate is let in")
	}
}
