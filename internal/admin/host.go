package admin

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// withoutName passes on only requests to an IP address or to localhost. Without a password,
// this host alone is served, but a web page in one of its browsers may belong to a name that
// its owner lets lead to this host (DNS rebinding): such a page could read every answer. With
// a password it does not know that, and with TLS the certificate has another name.
func withoutName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ownHost(r.Host) {
			plain(w, http.StatusForbidden, "without a password, the admin address is served as localhost or an IP address "+
				"only, not under another name: use http://localhost, or set admin.password")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownHost reports whether a request's Host is one that no web page of another host has. One
// without a Host is HTTP/1.0, which no browser speaks.
func ownHost(hostport string) bool {
	host := (&url.URL{Host: hostport}).Hostname()
	_, err := netip.ParseAddr(host)
	return err == nil || strings.EqualFold(host, "localhost") || hostport == ""
}
