package config

import (
	"fmt"
	"io"
	"strings"

	"github.com/redlockd/redlockd/internal/certificates"
)

// WriteSummary writes what -check found in the valid file of this name. It never shows
// passwords.
func (c Config) WriteSummary(w io.Writer, name string, warned []string) error {
	q := c.Quorum
	var out strings.Builder
	fmt.Fprintf(&out, "%s is valid. No master was contacted.\n", name)
	password := "without a password, from this host only"
	if !open(c.Proxy) {
		password = "with a password"
	}
	if n := len(c.Proxy.Users); n > 0 {
		password += fmt.Sprintf(" (%d users have rights of their own)", n)
	}
	fmt.Fprintf(&out, "  listens on %s, %s, for at most %d clients\n", c.ListensOn(), password, c.Proxy.MaxClients)
	fmt.Fprintf(&out, "  uses %d masters, of which %d must agree within %v\n", len(q.Masters), c.Majority(), q.Timeout)
	for _, m := range q.Masters {
		fmt.Fprintf(&out, "    %s at %s%s\n", m.Name, m.Address, c.tlsText(certificates.MasterBlock(m.Name)))
	}
	fmt.Fprintf(&out, "  grants locks of at most %v; a lock without a TTL: %s\n", q.MaxTTL, c.Commands.NoExpiry)
	if len(c.Commands.Deny) > 0 {
		fmt.Fprintf(&out, "  rejects %s\n", strings.Join(c.Commands.Deny, ", "))
	}
	if c.Admin != nil {
		fmt.Fprintf(&out, "  serves metrics, health and readiness on %s%s\n", c.Admin.Address, c.tlsText("admin"))
	}
	for _, warning := range warned {
		fmt.Fprintf(&out, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// ListensOn says where clients connect.
func (c Config) ListensOn() string {
	var at []string
	if p := c.Proxy; p.Address != "" {
		at = append(at, p.Address+c.tlsText("listen"))
	}
	if p := c.Proxy; p.Unix != "" {
		at = append(at, fmt.Sprintf("%s (mode %04o)", p.Unix, p.Mode))
	}
	return strings.Join(at, " and ")
}

// tlsText says whether a block has TLS, and whether both sides have certificates.
func (c Config) tlsText(block string) string {
	files, ok := c.TLS[block]
	switch {
	case !ok:
		return ""
	case files.Cert != "" && (files.CA != "" || certificates.IsMaster(block)):
		return " over TLS with certificates on both sides"
	default:
		return " over TLS"
	}
}
