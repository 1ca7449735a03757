package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redlockd/redlockd/internal/certtest"
	"github.com/redlockd/redlockd/internal/config"
)

// rig is a redlockd between clients and one real master, with TLS and certificates on
// both sides and at the admin address.
type rig struct {
	*running
	ca     *certtest.Authority
	server certtest.Files // redlockd's certificate for clients
	client certtest.Files // the certificate of clients, and of redlockd for the master
	file   string
}

func startRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{ca: certtest.NewAuthority(t, "ca")}
	r.server, r.client = r.ca.Files(t, "redlockd-one"), r.ca.Files(t, "client")
	m := r.ca.Files(t, "master")
	address := startMaster(t, "--tls-port", "--port", "0", "--tls-cert-file", m.Cert, "--tls-key-file", m.Key,
		"--tls-ca-cert-file", m.CA, "--tls-auth-clients", "yes")
	block := func(f certtest.Files, ca string) string {
		return fmt.Sprintf("tls {\n cert = %q\n key = %q\n %s = %q\n}\n", f.Cert, f.Key, ca, f.CA)
	}
	r.file = write(t, "listen {\n address = \"127.0.0.1:0\"\n"+block(r.server, "client_ca")+"}\n"+
		"quorum {\n timeout = \"200ms\"\n}\n"+
		fmt.Sprintf("master \"a\" {\n address = %q\n", address)+block(r.client, "ca")+"}\n"+
		"admin {\n address = \"127.0.0.1:0\"\n password = \"secret\"\n"+block(r.server, "client_ca")+"}\n")
	if got := runWith(t, "-bootstrap", "-config", r.file); got.code != 0 {
		t.Fatalf("the bootstrap said %q", got.stderr)
	}
	r.running = start(t, r.file)
	return r
}

// config returns a client's configuration, with a certificate or without.
func (r *rig) config(t *testing.T, certificate bool) *tls.Config {
	t.Helper()
	c := &tls.Config{InsecureSkipVerify: true}
	if certificate {
		pair, err := tls.LoadX509KeyPair(r.client.Cert, r.client.Key)
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

func (r *rig) dial(t *testing.T, certificate bool) *tls.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", r.address(t, "serving"), r.config(t, certificate))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestLocksOverTLS takes a lock over TLS from client to master, and replaces all
// certificates meanwhile.
func TestLocksOverTLS(t *testing.T) {
	r := startRig(t)
	session := r.dial(t, true)
	expect := func(command, want string) {
		t.Helper()
		if got, err := ask(session, command); got != want {
			t.Fatalf("%s: %q %v, want %q", command, got, err, want)
		}
	}
	expect("SET lock token NX PX 60000", "+OK")
	if got, err := ask(r.dial(t, false), "PING"); err == nil {
		t.Errorf("a client without a certificate hears %q", got)
	}
	r.ca.Write(t, r.server, "redlockd-two")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	r.says(t, "configuration reloaded")
	if got := r.dial(t, true).ConnectionState().PeerCertificates[0].Subject.CommonName; got != "redlockd-two" {
		t.Errorf("new clients see %q, want redlockd-two", got)
	}
	// The old session goes on, and so does the lock.
	expect("SET lock other NX PX 60000", "$-1")
	expect("DELEX lock IFEQ token", ":1")
}

func TestRedisCLIOverTLS(t *testing.T) {
	r := startRig(t)
	port := strings.TrimPrefix(r.address(t, "serving"), "127.0.0.1:")
	args := []string{"-p", port, "--tls", "--cacert", r.server.CA, "SET", "cli", "token", "NX", "PX", "60000"}
	out, err := exec.Command("redis-cli", append([]string{"--cert", r.client.Cert, "--key", r.client.Key}, args...)...).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "OK" {
		t.Errorf("redis-cli --tls: %q, %v; want OK", out, err)
	}
	out, _ = exec.Command("redis-cli", args...).CombinedOutput()
	if strings.Contains(string(out), "OK") || len(out) == 0 {
		t.Errorf("redis-cli without a certificate: %q", out)
	}
}

// A client without a certificate is refused; checked with openssl as well.
func TestOpenSSLWithoutCertificate(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("no openssl here: ", err)
	}
	r := startRig(t)
	talk := func(says string, args ...string) string {
		cmd := exec.Command("openssl", append([]string{"s_client", "-quiet", "-connect", r.address(t, "serving"), "-CAfile", r.server.CA}, args...)...)
		cmd.Stdin = strings.NewReader(says)
		out, _ := cmd.CombinedOutput() // its exit code shows little
		return string(out)
	}
	const commands = "PING\r\nSET openssl token NX PX 60000\r\nQUIT\r\n"
	if out := talk(commands, "-cert", r.client.Cert, "-key", r.client.Key); !strings.Contains(out, "+PONG\r\n+OK\r\n") {
		t.Errorf("with a certificate: %q", out)
	}
	others := certtest.NewAuthority(t, "others").Files(t, "client")
	for name, args := range map[string][]string{"without one": nil, "with another's": {"-cert", others.Cert, "-key", others.Key}} {
		if out := talk(commands, args...); strings.Contains(out, "+PONG") {
			t.Errorf("%s: %q", name, out)
		}
		// Commands that the server has not read when it closes reset the connection, maybe before the alert is read.
		if out := talk("", args...); !strings.Contains(out, "alert") {
			t.Errorf("%s: %q, want an alert", name, out)
		}
	}
	if got, err := ask(r.dial(t, true), "SET openssl other NX PX 60000"); got != "$-1" {
		t.Errorf("the lock: %q %v, want it held by who had a certificate", got, err)
	}
}

func TestAdminOverTLS(t *testing.T) {
	r := startRig(t)
	r.says(t, "serving metrics")
	url := "https://" + r.address(t, "serving metrics, health and readiness") + "/readyz"
	for _, certificate := range []bool{true, false} {
		transport := &http.Transport{TLSClientConfig: r.config(t, certificate)}
		client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
		response, err := client.Get(url)
		if certificate != (err == nil) {
			t.Fatalf("with a certificate %v: %v", certificate, err)
		}
		if err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%d, want 200", response.StatusCode)
			}
		}
		transport.CloseIdleConnections()
	}
}

func TestBootstrapOverTLS(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	m := ca.Files(t, "master")
	address := startMaster(t, "--tls-port", "--port", "0", "--tls-cert-file", m.Cert, "--tls-key-file", m.Key,
		"--tls-ca-cert-file", m.CA, "--tls-auth-clients", "no")
	file := write(t, fmt.Sprintf("master \"a\" {\n address = %q\n tls {\n ca = %q\n }\n}", address, m.CA))
	if got := runWith(t, "-bootstrap", "-config", file); got.code != 0 || !strings.Contains(got.stdout, "1 masters are marked") {
		t.Errorf("%+v", got)
	}
	others := certtest.NewAuthority(t, "others").Files(t, "x")
	file = write(t, fmt.Sprintf("master \"a\" {\n address = %q\n tls {\n ca = %q\n }\n}", address, others.CA))
	if got := runWith(t, "-bootstrap", "-config", file); got.code != 1 || !strings.Contains(got.stderr, "unknown authority") {
		t.Errorf("a master signed by another authority: %+v", got)
	}
}

// TestHalfOpenTLSDoesNotHoldTheStop: a stop does not wait for a connection that never
// completes its handshake.
func TestHalfOpenTLSDoesNotHoldTheStop(t *testing.T) {
	r := startRig(t)
	for _, line := range []string{"serving", "serving metrics, health and readiness"} {
		c, err := net.Dial("tcp", r.address(t, line))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	// A later connection is served, so the earlier ones have been accepted.
	if got, err := ask(r.dial(t, true), "PING"); got != "+PONG" {
		t.Fatalf("PING: %q %v", got, err)
	}
	began := time.Now()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > config.Default().Drain/2 {
		t.Errorf("the stop took %v", took)
	}
	if strings.Contains(r.out.String(), "cut off") {
		t.Error("sessions were cut off")
	}
}
