package certificates

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// identity is one block tls at run time: what its files contained when they were last
// valid. Connections consult it at each handshake, so a new certificate needs no restart
// and drops no session.
type identity struct {
	// block is the path of the enclosing block: listen, admin or master.a.
	block string
	// host is the host of the master's address; empty for a listener.
	host string

	now atomic.Pointer[state] // never nil after load

	// The Store's mutex guards the fields below.
	files Files
	seen  [sha256.Size]byte // hash at the last look, to see that a change has settled
	tried [sha256.Size]byte // hash of the contents that were last loaded or refused
}

// state is what is in force.
type state struct {
	credentials
	serverName string
}

// newIdentity returns the identity of a block, without its files' contents.
func newIdentity(block string, masters []quorum.Master) *identity {
	i := &identity{block: block}
	for _, m := range masters {
		if block == MasterBlock(m.Name) {
			i.host, _, _ = net.SplitHostPort(m.Address)
		}
	}
	return i
}

// load loads the files. On an error the previous state stays in force.
func (i *identity) load(files Files) error {
	texts, err := files.read()
	sum := texts.sum()
	i.seen, i.tried = sum, sum
	if err != nil {
		return err
	}
	parsed, err := files.parse(texts)
	if err != nil {
		return err
	}
	next := &state{credentials: parsed, serverName: files.ServerName}
	if next.serverName == "" {
		next.serverName = i.host
	}
	i.files = files
	i.now.Store(next)
	return nil
}

// changed reports whether the files differ from those last loaded or refused, and are the
// same as at the last look. A certificate and its key are two files, and do not match
// between the writing of the two.
func (i *identity) changed() bool {
	texts, _ := i.files.read() // a missing file is a change as well
	sum := texts.sum()
	settled := sum == i.seen
	i.seen = sum
	return settled && sum != i.tried
}

// fixed returns new files with the settings that only a start may change. The server name
// is also set when a connection begins. Whether clients need a certificate may be the
// reason why the address is open to other hosts, and the address stays the same.
func (i *identity) fixed(files Files) Files {
	files.ServerName = i.files.ServerName
	if (files.CA == "") != (i.files.CA == "") {
		files.CA = i.files.CA
	}
	return files
}

// expiry returns when redlockd's own certificate expires; zero without one.
func (i *identity) expiry() time.Time {
	if cert := i.now.Load().cert; cert != nil {
		return cert.Leaf.NotAfter
	}
	return time.Time{}
}

// server returns a listener's TLS configuration, which follows changes of the files.
func (i *identity) server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return i.now.Load().server(), nil
		},
	}
}

func (s *state) server() *tls.Config {
	c := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{*s.cert},
		// Resuming a session would skip the check against the present client_ca.
		SessionTicketsDisabled: true,
	}
	if s.ca != nil {
		c.ClientCAs, c.ClientAuth = s.ca, tls.RequireAndVerifyClientCert
	}
	return c
}

// client returns the TLS configuration for connections to a master, which follows changes
// of the files.
func (i *identity) client() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: i.now.Load().serverName,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if cert := i.now.Load().cert; cert != nil {
				return cert, nil
			}
			return &tls.Certificate{}, nil // sends no certificate
		},
		// Go's own verification knows one fixed set of roots. It is off only because
		// verify does the same with the present roots.
		InsecureSkipVerify: true,
		VerifyConnection:   func(cs tls.ConnectionState) error { return i.now.Load().verify(cs) },
	}
}

// verify does what Go does without InsecureSkipVerify.
func (s *state) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("the master shows no certificate")
	}
	options := x509.VerifyOptions{Roots: s.ca, DNSName: s.serverName, Intermediates: x509.NewCertPool()}
	for _, c := range cs.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := cs.PeerCertificates[0].Verify(options); err != nil {
		return fmt.Errorf("the master's certificate: %w", err)
	}
	return nil
}
