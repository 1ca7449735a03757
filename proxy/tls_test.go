package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// secret is the server's side of TLS, with a certificate that nobody checks.
func secret(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// Valid also at the beginning of a bubble's time.
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// startTLS is start behind TLS.
func startTLS(t *testing.T, change func(*Config)) *running {
	t.Helper()
	cfg, q := DefaultConfig(), newFakeQuorum()
	change(&cfg)
	srv := newServer(cfg, fakeInterpreter{}, q, "1.2.3", hclog.NewNullLogger())
	srv.writers.Promises = q
	side := secret(t)
	return serve(t, srv, q, func(ln net.Listener) net.Listener { return tls.NewListener(ln, side) })
}

// over shakes hands.
func (c *raw) over(t *testing.T) *raw {
	t.Helper()
	secured := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true})
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.Conn = secured
	c.r.Reset(secured)
	return c
}

// S5: who connects to TLS and never shakes hands keeps nobody out: of too many
// the oldest goes, with a password to come or without.
func TestMaxPendingOfHalfOpenTLS(t *testing.T) {
	for name, passwords := range map[string][]string{"with a password": {"pw"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			srv := startTLS(t, func(c *Config) { c.Passwords, c.MaxPending = passwords, 3 })
			come := func() *raw {
				c := srv.dial(t).over(t)
				if passwords != nil {
					c.ask("AUTH pw", "+OK\r\n")
				}
				c.ask("PING", "+PONG\r\n")
				return c
			}
			first := come()
			var open []*raw
			for i := range 20 {
				c := srv.dial(t)
				if i%2 == 0 {
					c.send("\x16\x03\x01\x02\x00") // the beginning of a hello
				}
				open = append(open, c)
				if i%5 == 4 {
					come()
				}
			}
			for _, c := range open[:len(open)-3] {
				c.wantEOF()
			}
			first.ask("PING", "+PONG\r\n")
			come()
			until(t, "what was dropped has left", func() bool { // a moment after its connection is closed
				srv.roster.mu.Lock()
				defer srv.roster.mu.Unlock()
				return srv.roster.pending.n <= 3 && srv.stats.Dropped.Load() >= 17 && len(srv.roster.sessions) <= 3+6
			})
		})
	}
}

// S5: the handshake must end within the time to log in, also where no login
// follows, and however busily it is drawn out.
func TestLoginTimeoutOfTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, plain := pipeWith(t, func(c *Config) { c.LoginTimeout = 10 * time.Second })
		side := secret(t)
		wrap := func(c net.Conn) net.Conn { return tls.Server(c, side) }
		silent, slow := srv.join(t, wrap), srv.join(t, wrap)
		go silent.read()
		go slow.read()
		slow.send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc")
		for range 9 {
			time.Sleep(time.Second)
			slow.send("x")
		}
		silent.wantEnd(t, time.Second)
		if !slow.ended() {
			t.Error("a handshake that is drawn out goes on")
		}
		if got := silent.received() + slow.received(); strings.Contains(got, "ERR") {
			t.Errorf("got %q in clear", got)
		}
		plain.send("PING\r\n")
		if plain.ended() || plain.received() != "+PONG\r\n" {
			t.Error("another session has ended")
		}
	})
}

// S5: who does not read over TLS ends with the write timeout as well, and not
// when TLS has tried in vain to say goodbye.
func TestWriteTimeoutOverTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, plain := pipeWith(t, func(c *Config) { c.WriteTimeout = time.Minute })
		side := secret(t)
		side.SessionTicketsDisabled = true // they are sent behind the handshake, and nobody reads
		ours, theirs := net.Pipe()
		defer theirs.Close()
		srv.admit(tls.Server(ours, side))
		client := tls.Client(theirs, &tls.Config{InsecureSkipVerify: true})
		if err := client.Handshake(); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte("LOCK k t\r\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		if n := srv.Clients(); n != 2 || srv.q.holder("0/k") != "t" {
			t.Fatalf("%d sessions before the client's time is over", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := srv.Clients(); n != 1 || srv.q.holder("0/k") != "" {
			t.Errorf("%d sessions, the lock is held by %q", n, srv.q.holder("0/k"))
		}
		plain.send("PING\r\n")
		if plain.ended() || plain.received() != "+PONG\r\n" {
			t.Error("another session has ended")
		}
	})
}
