package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/internal/certtest"
)

// TestWrongTLSAndAdmin: problems with certificates are reported before a start needs
// them.
func TestWrongTLSAndAdmin(t *testing.T) {
	files, others := certtest.NewAuthority(t, "ca").Files(t, "locks"), certtest.NewAuthority(t, "ca").Files(t, "locks")
	clientsTLS := func(cert, key, ca string) string {
		return fmt.Sprintf("listen {\n tls {\n  cert = %q\n  key = %q\n  client_ca = %q\n }\n}%s", cert, key, ca, masters)
	}
	masterTLS := func(body string) string {
		return "master \"z\" {\n address = \"h:1\"\n tls {\n" + body + "\n }\n}"
	}
	tests := []struct {
		name, file string
		want       []string
	}{
		{"empty tls", "listen {\n tls {}\n}" + masters, []string{"line 2", `expected cert = "FILE" and key = "FILE"`}},
		{"no key", "listen {\n tls {\n cert = \"x\"\n}\n}" + masters, []string{"line 2", "expected cert"}},
		{"two tls", "listen {\n tls {}\n tls {}\n}" + masters, []string{"line 3", "Duplicate block tls"}},
		{"unknown in tls", "listen {\n tls {\n ca = \"x\"\n }\n}" + masters, []string{"line 3", `"ca"`}},
		{"no such file", clientsTLS("no.pem", files.Key, ""), []string{"line 2", "no.pem"}},
		{"two missing files", clientsTLS("no.pem", "none.pem", ""), []string{"line 2", "no.pem", "none.pem"}},
		{"key of another", clientsTLS(files.Cert, others.Key, ""), []string{"line 2", "private key does not match public key"}},
		{"client_ca is a key", clientsTLS(files.Cert, files.Key, files.Key), []string{"line 2", "no certificate"}},
		{"master with half a pair", masterTLS(fmt.Sprintf("cert = %q", files.Cert)), []string{"line 3", "cert and key, or neither"}},
		{"master without its ca", masterTLS(`ca = "no.pem"`), []string{"line 3", "no.pem"}},
		{"two admin", "admin {}\nadmin {}" + masters, []string{"line 2", "Duplicate block admin"}},
		{"admin for all", "admin {\n address = \":9736\"\n}" + masters, []string{"line 2", "admin.address is :9736", "admin.password"}},
		{"admin without port", "admin {\n address = \"127.0.0.1\"\n}" + masters, []string{"line 2", "is not host:port"}},
		{"admin with tls for all", fmt.Sprintf("admin {\n address = \":9736\"\n tls {\n cert = %q\n key = %q\n}\n}%s", files.Cert, files.Key, masters),
			[]string{"line 2", "admin.password"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			refused(t, test.file, test.want)
		})
	}
}

func TestAdminThatMayBeReached(t *testing.T) {
	f := certtest.NewAuthority(t, "ca").Files(t, "locks")
	for name, file := range map[string]string{
		"this host":          "admin {}",
		"password":           "admin {\n address = \":0\"\n password = \"p\"\n}",
		"client certificate": fmt.Sprintf("admin {\n address = \":0\"\n tls {\n cert = %q\n key = %q\n client_ca = %q\n}\n}", f.Cert, f.Key, f.CA),
	} {
		cfg, _, err := Load(write(t, file+masters), "")
		if err != nil {
			t.Errorf("%s: %s", name, said(t, err))
		} else if cfg.Admin == nil {
			t.Errorf("%s: there is no admin address", name)
		}
	}
	if cfg, _, err := Load(write(t, masters), ""); err != nil || cfg.Admin != nil {
		t.Errorf("without the block: error %v, admin %v, want neither", err, cfg.Admin)
	}
}

func TestCertificateThatEndsIsWarnedAbout(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	ca.Life = certificateNotice - 1
	f := ca.Files(t, "locks")
	file := fmt.Sprintf("listen {\n tls {\n cert = %[1]q\n key = %[2]q\n}\n}\nadmin {\n tls {\n cert = %[1]q\n key = %[2]q\n}\n}%[3]s", f.Cert, f.Key, masters)
	_, warned, err := Load(write(t, file), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "the certificate of admin.tls, listen.tls expires on 20") {
		t.Errorf("warned %q, want one about both blocks", warned)
	}
}
