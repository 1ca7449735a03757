package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// tlsFiles is a block tls: the names of PEM files. Relative names are
// relative to the working directory.
type tlsFiles struct {
	// cert and key are the own certificate with its chain, and its key. Both
	// or neither; a listener needs them.
	cert, key string
	// ca are the certificates that must have signed the other side's: of
	// clients (client_ca; empty asks for none), or of a master (ca; empty
	// takes the system's).
	ca string
	// serverName is what a master's certificate must be for. Empty takes the
	// host of its address.
	serverName string
}

// tlsTexts is what is in the files; nil where there is no file.
type tlsTexts struct{ cert, key, ca []byte }

// tlsParts is what the texts mean.
type tlsParts struct {
	cert *tls.Certificate // nil for none
	ca   *x509.CertPool   // nil for none
}

// read reads all files, and tells all that cannot be read.
func (f tlsFiles) read() (tlsTexts, error) {
	var texts tlsTexts
	var errs []error
	for _, file := range []struct {
		name string
		to   *[]byte
	}{{f.cert, &texts.cert}, {f.key, &texts.key}, {f.ca, &texts.ca}} {
		if file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		*file.to = text
		errs = append(errs, err)
	}
	return texts, errors.Join(errs...)
}

// parse makes what TLS needs of the texts; f is for names in errors.
func (f tlsFiles) parse(texts tlsTexts) (tlsParts, error) {
	var parts tlsParts
	if f.cert != "" {
		cert, err := tls.X509KeyPair(texts.cert, texts.key)
		if err != nil {
			return parts, fmt.Errorf("cert %s and key %s: %w", f.cert, f.key, err)
		}
		parts.cert = &cert
	}
	if f.ca != "" {
		parts.ca = x509.NewCertPool()
		if !parts.ca.AppendCertsFromPEM(texts.ca) {
			return parts, fmt.Errorf("%s has no certificate in PEM form", f.ca)
		}
	}
	return parts, nil
}

// problem says what is wrong with the block or its files, or nil. listener is
// whether clients connect to it.
func (f tlsFiles) problem(listener bool) error {
	switch {
	case listener && (f.cert == "" || f.key == ""):
		return errors.New("expected cert = \"FILE\" and key = \"FILE\"")
	case (f.cert == "") != (f.key == ""):
		return errors.New("expected cert and key, or neither")
	}
	texts, err := f.read()
	if err != nil {
		return err
	}
	_, err = f.parse(texts)
	return err
}

// expiry is when the own certificate ends; zero when there is none, or none
// that can be read.
func (f tlsFiles) expiry() time.Time {
	texts, _ := f.read()
	parts, err := f.parse(texts)
	if err != nil || parts.cert == nil {
		return time.Time{}
	}
	return parts.cert.Leaf.NotAfter
}

// sum is the same for the same texts.
func (t tlsTexts) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, text := range [][]byte{t.cert, t.key, t.ca} {
		fmt.Fprintf(h, "%d\n", len(text))
		h.Write(text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
