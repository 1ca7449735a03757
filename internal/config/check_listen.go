package config

import (
	"fmt"
	"strings"

	"github.com/redlockd/redlockd/proxy"
)

// replaceAddress makes -listen override the file. From then on a problem with the address
// has no line.
func (d *decoder) replaceAddress(cfg *Config, listen string) {
	cfg.Proxy.Address = listen
	delete(d.ranges, "listen.address")
}

// checkListen checks where clients connect. A Unix socket needs no password, since its permissions
// say who may connect; an empty address is none.
func (d *decoder) checkListen(p proxy.Config) {
	if problem := socketProblem(p.Unix); p.Unix != "" && problem != "" {
		d.wrong("listen.unix", "Wrong path", "listen.unix: "+problem)
	}
	if p.Address == "" && p.Unix != "" {
		return
	}
	if problem := addressProblem(p.Address, 0); problem != "" {
		d.wrong("listen.address", "Wrong address", "listen.address: "+problem)
	} else if open(p) && !onThisHost(p.Address) {
		d.wrong("listen.address", "Password required", protectedMode("listen", p.Address), "listen.password")
	}
}

// maxSocketPath is the longest path that the system takes for a Unix socket, in bytes.
const maxSocketPath = 103

// socketProblem says what is wrong with the path of a Unix socket, or returns "". A name that
// begins with "@" is no file on Linux, and so has no permissions.
func socketProblem(path string) string {
	switch {
	case !printable(path) || strings.ContainsRune(path, ' '):
		return fmt.Sprintf("%q has characters that are not shown, or spaces.", path)
	case strings.HasPrefix(path, "@"):
		return fmt.Sprintf("%q is no path of a file.", path)
	case len(path) > maxSocketPath:
		return fmt.Sprintf("%q has %d bytes, expected at most %d.", path, len(path), maxSocketPath)
	}
	return ""
}

// checkLengths checks that a key and a token may be as long as their settings say: a
// command that has one is longer.
func (d *decoder) checkLengths(p proxy.Config) {
	for _, l := range []struct {
		name string
		most int
	}{{"max_key_bytes", p.MaxKeyBytes}, {"max_token_bytes", p.MaxTokenBytes}} {
		if l.most > p.MaxCommandBytes {
			d.wrong("listen."+l.name, "Relation between settings", fmt.Sprintf(
				"%s is %d and max_command_bytes is %d, expected max_command_bytes to be at least that: a longer command is rejected.", l.name, l.most, p.MaxCommandBytes), "listen.max_command_bytes")
		}
	}
}
