package integration

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// S6: one SIGHUP replaces a certificate, a password and a master, while
// sessions take and release locks: none of them notices.
func TestS6ReloadOfAllUnderLoad(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 6)
	dir := t.TempDir()
	writeCertificate(t, dir, "first")
	listen := fmt.Sprintf("tls {\n cert = %q\n key = %q\n}\n", filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	cfg := overFive(masters[:5])
	cfg.Password, cfg.Listen = "old", listen
	cfg.MaxTTL, cfg.Handover = time.Second, time.Second
	Bootstrap(t, cfg)
	r := JoinRedlockd(t, cfg)
	waitMetric(t, r, "redlockd_masters_voting", 5)

	ctx := context.Background()
	dial := func(password, certificate string) *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: r.Addr, Password: password, MaxRetries: -1, ReadTimeout: rig.Patience,
			TLSConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
				if name := cs.PeerCertificates[0].Subject.CommonName; name != certificate {
					return fmt.Errorf("the certificate is that of %q, want %q", name, certificate)
				}
				return nil
			}}})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	var holders, cycles atomic.Int64
	var load sync.WaitGroup
	stop := make(chan struct{})
	for i := range 6 {
		conn := dial("old", "first").Conn() // one session, which must outlast it all
		if err := conn.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		load.Go(func() {
			defer conn.Close()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				token := fmt.Sprintf("%d:%d", i, n)
				won, err := conn.SetNX(ctx, "contested", token, time.Second).Result()
				if err == nil && won {
					if holders.Add(1) != 1 {
						t.Errorf("two hold the lock")
					}
					err = conn.Ping(ctx).Err()
					cycles.Add(1)
					holders.Add(-1)
				}
				if err == nil && won {
					err = conn.Eval(ctx, releaseScript, []string{"contested"}, token).Err()
				}
				if err != nil && !strings.HasPrefix(err.Error(), "NOQUORUM") {
					t.Errorf("a session suffered: %v", err)
					return
				}
			}
		})
	}

	writeCertificate(t, dir, "second")
	next := cfg
	next.Password = "new"
	next.Masters = append(append([]string(nil), cfg.Masters[:4]...), masters[5].Addr)
	next.Names = []string{"a", "b", "c", "d", "f"}
	r.Reload(next)
	rig.Eventually(t, "the new list is final", func() (bool, string) {
		return strings.Contains(r.Log(), "phase=final"), r.Log()
	})
	waitMetric(t, r, "redlockd_masters_voting", 5)
	before := cycles.Load()
	rig.Eventually(t, "locks are taken on", func() (bool, string) { return cycles.Load() > before+20, "no cycle" })
	close(stop)
	load.Wait()

	if err := dial("new", "second").Ping(ctx).Err(); err != nil {
		t.Errorf("with the new password, to the new certificate: %v", err)
	}
	if err := dial("old", "second").Ping(ctx).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS") {
		t.Errorf("with the old password: %v", err)
	}
	c := dial("new", "second")
	if err := c.SetNX(ctx, "last", "t", time.Second).Err(); err != nil {
		t.Error(err)
	}
	if missing := rig.WaitHeld(masters[5:], "last", "t", rig.Patience); len(missing) > 0 {
		t.Error("the new master was not asked")
	}
	if masters[4].Holds("last", "t") {
		t.Error("the old master still is asked")
	}
}

// waitMetric waits until a metric has a value.
func waitMetric(t *testing.T, r *Redlockd, name string, want float64) {
	t.Helper()
	rig.Eventually(t, name, func() (bool, string) {
		got := r.Metric(name)
		return got == want, fmt.Sprintf("is %v, want %v", got, want)
	})
}

// writeCertificate makes a certificate for 127.0.0.1, signed by itself.
func writeCertificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	what := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotAfter: time.Now().Add(30 * 24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, what, what, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
