// Package certtest makes certificates for tests: an [Authority] signs them and writes
// them to files.
package certtest

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

// Authority signs certificates.
type Authority struct {
	// Life is how long new certificates are valid from now. The default is 4 weeks, so
	// that no warning about their expiry is logged.
	Life time.Duration

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Files are the names of PEM files: a certificate, its key, and the certificate of the
// authority that signed it. An empty name is no file.
type Files struct{ Cert, Key, CA string }

// NewAuthority returns a new authority.
func NewAuthority(t *testing.T, name string) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t), Life: 4 * 7 * 24 * time.Hour}
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

// sign completes and signs the certificate what; an authority that has no certificate yet
// signs itself.
func (a *Authority) sign(t *testing.T, name string, what *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	what.SerialNumber, what.Subject = serial, pkix.Name{CommonName: name}
	what.NotBefore, what.NotAfter = time.Unix(0, 0), time.Now().Add(a.Life)
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

// Files writes a new certificate for the name (and 127.0.0.1), and the authority's own,
// to a new folder.
func (a *Authority) Files(t *testing.T, name string) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), CA: filepath.Join(dir, "ca.pem")}
	a.Write(t, f, name)
	return f
}

// Write replaces the files by new ones.
func (a *Authority) Write(t *testing.T, f Files, name string) {
	t.Helper()
	key := newKey(t)
	cert := a.sign(t, name, &x509.Certificate{DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, f.Cert, "CERTIFICATE", cert.Raw)
	writePEM(t, f.Key, "PRIVATE KEY", der)
	writePEM(t, f.CA, "CERTIFICATE", a.cert.Raw)
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
