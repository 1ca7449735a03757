package quorum

import (
	"context"
	"crypto/tls"
	"net"
)

type tlsConfig = tls.Config

// dialSocket reaches address, over TLS if there is a configuration for it.
func dialSocket(ctx context.Context, address string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return dialer.DialContext(ctx, "tcp", address)
	}
	secure := tls.Dialer{NetDialer: dialer, Config: config}
	return secure.DialContext(ctx, "tcp", address)
}
