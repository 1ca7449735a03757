package certificates

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
)

// Blocks are the blocks tls, by the path of the enclosing block: listen, admin, or a
// master's.
type Blocks map[string]Files

// Names returns the paths in order.
func (b Blocks) Names() []string { return slices.Sorted(maps.Keys(b)) }

// MasterBlock returns the path of a master's block, like master.a.
func MasterBlock(name string) string { return "master." + name }

// IsMaster reports whether the path is a master's, not a listener's.
func IsMaster(block string) bool { return block != "listen" && block != "admin" }

// Files is one block tls: the names of PEM files. Relative names are relative to the
// working directory.
type Files struct {
	// Cert and Key are redlockd's own certificate with its chain, and its key. Both or
	// neither are set; a listener needs them.
	Cert, Key string
	// CA has the certificates of the authorities that must have signed the other side's
	// certificate: that of clients (client_ca; if empty, clients need none), or of a
	// master (ca; if empty, the system's authorities count).
	CA string
	// ServerName is the name that a master's certificate must be for. If empty, it is the
	// host of the master's address.
	ServerName string
}

// contents is what the files contain; nil where there is no file.
type contents struct{ cert, key, ca []byte }

// credentials is the parsed contents.
type credentials struct {
	cert *tls.Certificate // nil for none
	ca   *x509.CertPool   // nil for none
}

// read reads all files, and returns all errors.
func (f Files) read() (contents, error) {
	var texts contents
	var errs []error
	for _, file := range []struct {
		name string
		to   *[]byte
	}{{f.Cert, &texts.cert}, {f.Key, &texts.key}, {f.CA, &texts.ca}} {
		if file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		*file.to = text
		errs = append(errs, err)
	}
	return texts, errors.Join(errs...)
}

// parse parses the contents; f has the names for errors.
func (f Files) parse(texts contents) (credentials, error) {
	var parsed credentials
	if f.Cert != "" {
		cert, err := tls.X509KeyPair(texts.cert, texts.key)
		if err != nil {
			return parsed, fmt.Errorf("cert %s and key %s: %w", f.Cert, f.Key, err)
		}
		parsed.cert = &cert
	}
	if f.CA != "" {
		parsed.ca = x509.NewCertPool()
		if !parsed.ca.AppendCertsFromPEM(texts.ca) {
			return parsed, fmt.Errorf("%s has no certificate in PEM form", f.CA)
		}
	}
	return parsed, nil
}

// Validate returns what is wrong with the block or its files, or nil. listener reports
// whether clients connect to the block's address.
func (f Files) Validate(listener bool) error {
	switch {
	case listener && (f.Cert == "" || f.Key == ""):
		return errors.New("expected cert = \"FILE\" and key = \"FILE\"")
	case (f.Cert == "") != (f.Key == ""):
		return errors.New("expected cert and key, or neither")
	}
	texts, err := f.read()
	if err != nil {
		return err
	}
	_, err = f.parse(texts)
	return err
}

// Expiry returns when redlockd's own certificate expires; zero if there is none, or none
// that can be read.
func (f Files) Expiry() time.Time {
	texts, _ := f.read()
	parsed, err := f.parse(texts)
	if err != nil || parsed.cert == nil {
		return time.Time{}
	}
	return parsed.cert.Leaf.NotAfter
}

// sum returns a hash of the contents.
func (c contents) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, text := range [][]byte{c.cert, c.key, c.ca} {
		fmt.Fprintf(h, "%d\n", len(text))
		h.Write(text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
