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

// identity is one block tls at work: what its files said when they were
// last right. Connections ask it anew for each handshake, so a new
// certificate needs no restart and drops no session.
type identity struct {
	// block is the path of the block around it: listen, admin or master.a.
	block string
	// host is the host of the master's address; empty for a listener.
	host string

	now atomic.Pointer[state] // never nil after load

	// The rest belongs to the Store, under its lock.
	files Files
	seen  [sha256.Size]byte // of the last look, for changes that settle
	tried [sha256.Size]byte // of the texts that were taken or refused last
}

// state is what is in force.
type state struct {
	credentials
	serverName string
}

// newIdentity is a block without what its files say.
func newIdentity(block string, masters []quorum.Master) *identity {
	i := &identity{block: block}
	for _, m := range masters {
		if block == MasterBlock(m.Name) {
			i.host, _, _ = net.SplitHostPort(m.Address)
		}
	}
	return i
}

// load takes what the files say now. On an error what was in force stays.
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

// changed reports whether the files have other texts than those tried last, and
// the same as at the last look: a certificate and its key are two files, and
// between the two writes they do not fit.
func (i *identity) changed() bool {
	texts, _ := i.files.read() // what is missing is a change as well
	sum := texts.sum()
	settled := sum == i.seen
	i.seen = sum
	return settled && sum != i.tried
}

// fixed is new files with what only a start may change. The name is also
// asked for at a connection's beginning. And whether certificates are asked of
// clients is what may have opened the address, which stays open too.
func (i *identity) fixed(files Files) Files {
	files.ServerName = i.files.ServerName
	if (files.CA == "") != (i.files.CA == "") {
		files.CA = i.files.CA
	}
	return files
}

// expiry is when the own certificate ends; zero without one.
func (i *identity) expiry() time.Time {
	if cert := i.now.Load().cert; cert != nil {
		return cert.Leaf.NotAfter
	}
	return time.Time{}
}

// server is the configuration of a listener. It changes with the files.
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
		// A resumed session would be one that the client_ca of now has not
		// looked at.
		SessionTicketsDisabled: true,
	}
	if s.ca != nil {
		c.ClientCAs, c.ClientAuth = s.ca, tls.RequireAndVerifyClientCert
	}
	return c
}

// client is the configuration for connections to a master. It changes with
// the files.
func (i *identity) client() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: i.now.Load().serverName,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if cert := i.now.Load().cert; cert != nil {
				return cert, nil
			}
			return &tls.Certificate{}, nil // says that there is none
		},
		// Go's own verification knows one fixed set of roots. It is off only
		// because verify does the same with the roots of now.
		InsecureSkipVerify: true,
		VerifyConnection:   func(cs tls.ConnectionState) error { return i.now.Load().verify(cs) },
	}
}

// verify is what Go does without InsecureSkipVerify.
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
