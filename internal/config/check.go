package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/address"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/invalid"
)

// check checks the values: each package its own, and then the relations that no single
// package sees.
func (d *decoder) check(cfg Config) {
	d.part("listen", cfg.Proxy.Validate())
	d.part("quorum", cfg.Quorum.Validate())
	// max_ttl is the same value in both packages, so report it only once.
	cfg.Commands.MaxTTL = commands.DefaultConfig().MaxTTL
	d.part("quorum", cfg.Commands.Validate())
	d.checkListen(cfg.Proxy)
	d.checkAdmin(cfg)
	d.checkOwn(cfg)
	d.checkLengths(cfg.Proxy)
	q := cfg.Quorum
	if 2*q.Timeout > q.MaxTTL {
		d.wrong("quorum.timeout", "Relation between settings", fmt.Sprintf(
			"timeout is %v and max_ttl is %v, expected max_ttl to be at least two timeouts: a lock could expire while it is being acquired.", q.Timeout, q.MaxTTL), "quorum.max_ttl")
	}
	if longest := q.Timeout + q.RetryBudget; cfg.Drain < longest {
		d.wrong("listen.drain", "Relation between settings", fmt.Sprintf(
			"drain is %v and timeout + retry_budget is %v, expected drain to be at least that: a stop would cut off commands that are being answered.", cfg.Drain, longest), "quorum.timeout", "quorum.retry_budget")
	}
}

// wrong adds a problem with a setting: at its line if it has one, else at that of the block
// around it, else at the end of the file. It adds none if the setting could not be read, or
// one of the others by which it is judged: that has been reported.
func (d *decoder) wrong(name, summary, detail string, others ...string) {
	if d.read(append(others, name)...) {
		d.add(d.place(name), summary, detail)
	}
}

// read reports whether none of the settings has a value that could not be used. A password
// may stand in a file.
func (d *decoder) read(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return d.unread[name] || d.unread[name+"_file"] })
}

// place returns the place of a setting, or of the block around it.
func (d *decoder) place(name string) hcl.Range {
	if at, ok := d.ranges[name]; ok {
		return at
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return d.place(name[:i])
	}
	return d.end
}

// part adds what a package's Validate returned: one error or several joined.
func (d *decoder) part(block string, err error) {
	if err == nil {
		return
	}
	problems := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		problems = joined.Unwrap()
	}
	for _, problem := range problems {
		d.wrong(d.find(block, problem), "Wrong value", problem.Error()+".")
	}
}

// find returns the name of the setting that a package's error is about. A wrong number of
// masters concerns the whole file.
func (d *decoder) find(block string, problem error) string {
	var wrong *invalid.Error
	switch {
	case !errors.As(problem, &wrong):
		return block
	case wrong.Path == "masters" || strings.HasPrefix(wrong.Path, "master."):
		return wrong.Path
	default:
		return block + "." + wrong.Path
	}
}

// addressProblem says what is wrong with host:port, or returns "". leastPort is 0 where
// the system may choose a port.
func addressProblem(address string, leastPort int) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil || !printable(address) {
		return fmt.Sprintf("%q is not host:port, as \"127.0.0.1:6380\".", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < leastPort || n > 65535 {
		return fmt.Sprintf("the port of %q is not a number from %d to 65535.", address, leastPort)
	}
	return ""
}

// printable reports whether the text can be shown in a line: one with line breaks would
// forge others.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkOwn checks that redlockd's own addresses are different ones, and no masters.
func (d *decoder) checkOwn(cfg Config) {
	own := map[string]string{"listen.address": cfg.Proxy.Address}
	if cfg.Admin != nil {
		own["admin.address"] = cfg.Admin.Address
		if address.Collide(cfg.Proxy.Address, cfg.Admin.Address) {
			d.wrong("admin.address", "Address in use", fmt.Sprintf(
				"admin.address is %s and listen.address is %s, expected two ports.", cfg.Admin.Address, cfg.Proxy.Address), "listen.address")
		}
	}
	for _, m := range cfg.Quorum.Masters {
		for name, listen := range own {
			if address.Reaches(m.Address, listen) {
				d.wrong(certificates.MasterBlock(m.Name)+".address", "Wrong address", fmt.Sprintf(
					"master %q: %s is redlockd's own address (%s).", m.Name, m.Address, name), name)
			}
		}
	}
}

// onThisHost reports whether only this host can connect to the address. Without a
// password no other address is served, as in Redis's protected mode.
func onThisHost(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// protectedMode says why an address is refused, and what to do.
func protectedMode(block, address string) string {
	could := "take and free every lock"
	if block == "admin" {
		could = "see how the masters are and what clients do"
	}
	return fmt.Sprintf("%[1]s.address is %[2]s and there is no %[1]s.password: anyone who can reach it could %[3]s. Set %[1]s.password, or listen on 127.0.0.1 or ::1.", block, address, could)
}

// warnings returns warnings about settings that work but are seldom intended.
func warnings(cfg Config) []string {
	var said []string
	if n := len(cfg.Quorum.Masters); n%2 == 0 {
		said = append(said, fmt.Sprintf("%d masters can lose %d, as %d can: an odd number is better", n, (n-1)/2, n-1))
	}
	if n := len(cfg.Quorum.Masters); n <= 2 {
		said = append(said, fmt.Sprintf("with %d masters no lock can be taken while their list is changed", n))
	}
	return append(said, expiring(cfg.TLS)...)
}

// expiring returns a warning for each certificate that expires soon. Blocks with the same
// certificate are named together.
func expiring(all certificates.Blocks) []string {
	var dates []string
	blocks := map[string]string{} // by date
	for _, block := range all.Names() {
		ends := all[block].Expiry()
		if ends.IsZero() || time.Until(ends) >= certificateNotice {
			continue
		}
		date := ends.UTC().Format(time.RFC3339)
		if blocks[date] == "" {
			dates = append(dates, date)
		} else {
			blocks[date] += ", "
		}
		blocks[date] += block + ".tls"
	}
	for i, date := range dates {
		dates[i] = "the certificate of " + blocks[date] + " expires on " + date
	}
	return dates
}

// certificateNotice is how long before its expiry a certificate is warned about.
const certificateNotice = 14 * 24 * time.Hour
