// Package address compares addresses, host:port, by what they lead to: localhost:7001 and
// 127.0.0.1:7001 are one server. It asks no name server, so of other names it knows only
// whether they are equal. Pure; safe for concurrent use.
package address

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// hosts is what a host stands for: addresses, or else a name.
type hosts struct {
	addrs []netip.Addr
	name  string
}

var (
	loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	// anywhere is every address of this host. A listener at :: has those of IPv4, too.
	anywhere = []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
)

// Same reports whether connections to a and to b lead to the same server.
func Same(a, b string) bool {
	to, port := split(a)
	other, otherPort := split(b)
	return a == b || port != 0 && port == otherPort && to.dialled().meets(other.dialled(), false)
}

// Reaches reports whether a connection to an address leads to a listener at listen.
func Reaches(to, listen string) bool {
	dialled, port := split(to)
	at, listenPort := split(listen)
	return port != 0 && port == listenPort && at.meets(dialled.dialled(), false)
}

// Collide reports whether two listeners on one host cannot have these addresses. Port 0 is
// a free one.
func Collide(a, b string) bool {
	at, port := split(a)
	other, otherPort := split(b)
	return port != 0 && port == otherPort && (at.meets(other, true) || other.meets(at, true))
}

// split returns what an address consists of; port 0 if it is not host:port.
func split(address string) (hosts, int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return hosts{}, 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return hosts{}, 0
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "":
		return hosts{addrs: anywhere}, port
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return hosts{addrs: loopback}, port
	case err != nil:
		return hosts{name: name}, port
	case ip.Unmap() == netip.IPv6Unspecified():
		return hosts{addrs: anywhere}, port
	}
	return hosts{addrs: []netip.Addr{ip.Unmap()}}, port
}

// dialled returns where a connection to these hosts goes: the unspecified address leads to
// this host.
func (h hosts) dialled() hosts {
	if slices.ContainsFunc(h.addrs, netip.Addr.IsUnspecified) {
		return hosts{addrs: loopback}
	}
	return h
}

// meets reports whether what listens at h is reached at one of the others. An unspecified
// address is every one of this host: those of loopback, and the others if they are local.
// Which addresses this host has is not asked: the file may be checked on another one.
func (h hosts) meets(others hosts, local bool) bool {
	if h.name != "" {
		return h.name == others.name
	}
	for _, at := range h.addrs {
		for _, to := range others.addrs {
			every := at.IsUnspecified() && at.Is4() == to.Is4() && (local || to.IsLoopback())
			if at == to || every {
				return true
			}
		}
	}
	return false
}
