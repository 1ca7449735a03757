package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/redlockd/redlockd/internal/certificates"
)

// printCheck says what -check found right. Passwords are never shown.
func printCheck(w io.Writer, name string, cfg config, warned []string) error {
	q := cfg.quorum
	var out strings.Builder
	fmt.Fprintf(&out, "%s is valid. No master was contacted.\n", name)
	password := "without a password, from this host only"
	if !open(cfg.proxy) {
		password = "with a password"
	}
	if n := len(cfg.proxy.Users); n > 0 {
		password += fmt.Sprintf(" (%d users have rights of their own)", n)
	}
	fmt.Fprintf(&out, "  listens on %s%s, %s, for at most %d clients\n", cfg.proxy.Address, tlsText(cfg, "listen"), password, cfg.proxy.MaxClients)
	fmt.Fprintf(&out, "  uses %d masters, of which %d must agree within %v\n", len(q.Masters), majority(len(q.Masters)), q.Timeout)
	for _, m := range q.Masters {
		fmt.Fprintf(&out, "    %s at %s%s\n", m.Name, m.Address, tlsText(cfg, certificates.MasterBlock(m.Name)))
	}
	fmt.Fprintf(&out, "  grants locks of at most %v; a lock without a TTL: %s\n", q.MaxTTL, cfg.commands.NoExpiry)
	if len(cfg.commands.Deny) > 0 {
		fmt.Fprintf(&out, "  rejects %s\n", strings.Join(cfg.commands.Deny, ", "))
	}
	if cfg.admin != nil {
		fmt.Fprintf(&out, "  serves metrics, health and readiness on %s%s\n", cfg.admin.address, tlsText(cfg, "admin"))
	}
	for _, warning := range warned {
		fmt.Fprintf(&out, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// tlsText says that a block has TLS, and whether both sides show who they are.
func tlsText(cfg config, block string) string {
	files, ok := cfg.tls[block]
	switch {
	case !ok:
		return ""
	case files.Cert != "" && (files.CA != "" || certificates.IsMaster(block)):
		return " over TLS with certificates on both sides"
	default:
		return " over TLS"
	}
}

func majority(masters int) int { return masters/2 + 1 }
