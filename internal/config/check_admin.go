package config

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/proxy/history"
)

// checkAdmin checks the admin address. It gives away less than a client may do, so a
// client certificate is as good as a password.
func (d *decoder) checkAdmin(cfg Config) {
	a := cfg.Admin
	if a == nil {
		return
	}
	d.checkPatterns(cfg.Proxy.Patterns)
	if problem := addressProblem(a.Address, 0); problem != "" {
		d.wrong("admin.address", "Wrong address", "admin.address: "+problem)
	} else if a.Password == "" && cfg.TLS["admin"].CA == "" && !onThisHost(a.Address) {
		d.wrong("admin.address", "Password required", protectedMode("admin", a.Address), "admin.password")
	}
}

// checkPatterns checks the patterns of keys, which are labels of metrics.
func (d *decoder) checkPatterns(patterns []string) {
	wrong := func(text string, args ...any) {
		d.wrong("admin.patterns", "Wrong patterns", "admin.patterns: "+fmt.Sprintf(text, args...))
	}
	if n := len(patterns); n > proxy.MaxPatterns {
		wrong("there are %d, expected at most %d.", n, proxy.MaxPatterns)
	}
	for i, p := range patterns {
		switch {
		case p == "" || len(p) > maxPattern || !utf8.ValidString(p) || !printable(p):
			wrong("%q is empty, longer than %d bytes, or has characters that are not shown.", p, maxPattern)
		case p == history.Others || slices.Contains(patterns[:i], p):
			wrong("%q is there twice, or the name of the keys that no pattern has.", p)
		}
	}
}

// maxPattern bounds a pattern of keys in bytes.
const maxPattern = 100
