package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	life time.Duration // of what it signs
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t), life: 2 * certificateNotice}
	a.cert = a.sign(t, name, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true}, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign completes what; an authority that has no certificate yet signs itself.
func (a *authority) sign(t *testing.T, name string, what *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	what.SerialNumber, what.Subject = serial, pkix.Name{CommonName: name}
	what.NotBefore, what.NotAfter = time.Unix(0, 0), time.Now().Add(a.life)
	parent := a.cert
	if parent == nil {
		parent = what
	}
	der, err := x509.CreateCertificate(rand.Reader, what, parent, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// files are a new certificate for the name (and 127.0.0.1), and the authority's
// own, in a folder of their own.
func (a *authority) files(t *testing.T, name string) tlsFiles {
	t.Helper()
	dir := t.TempDir()
	f := tlsFiles{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), ca: filepath.Join(dir, "ca.pem")}
	a.write(t, f, name)
	return f
}

// write replaces the files by new ones.
func (a *authority) write(t *testing.T, f tlsFiles, name string) {
	t.Helper()
	key := newKey(t)
	cert := a.sign(t, name, &x509.Certificate{DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, f.cert, "CERTIFICATE", cert.Raw)
	writePEM(t, f.key, "PRIVATE KEY", der)
	writePEM(t, f.ca, "CERTIFICATE", a.cert.Raw)
}

func writePEM(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if name == "" {
		return
	}
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
