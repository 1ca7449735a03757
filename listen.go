package main

import (
	"errors"
	"net"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/proxy"
)

// door is an address at which clients connect. open opens it again after the listener was closed.
type door struct {
	ln   net.Listener
	open func() (net.Listener, error)
}

type doors []door

// fields returns the addresses for the log.
func (all doors) fields() []any {
	fields := []any{"address", all[0].ln.Addr().String()}
	for _, d := range all[1:] {
		fields = append(fields, "and", d.ln.Addr().String())
	}
	return fields
}

// close closes them and the admin address, which may be nil.
func (all doors) close(adminLn net.Listener) error {
	var errs []error
	for _, d := range all {
		errs = append(errs, d.ln.Close())
	}
	if adminLn != nil {
		errs = append(errs, adminLn.Close())
	}
	return errors.Join(errs...)
}

// listen opens the addresses; adminLn is nil without a block admin.
func listen(cfg config.Config, certs *certificates.Store, log hclog.Logger) (all doors, adminLn net.Listener, err error) {
	if cfg.Proxy.Address != "" {
		d, err := tcpDoor(cfg.Proxy.Address, certs)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, d)
	}
	if cfg.Proxy.Unix != "" {
		d, err := unixDoor(cfg.Proxy)
		if err != nil {
			return nil, nil, errors.Join(err, all.close(nil))
		}
		all = append(all, d)
	}
	if cfg.Admin == nil {
		return all, nil, nil
	}
	adminLn, err = listenAdmin(*cfg.Admin, log)
	if err != nil {
		return nil, nil, errors.Join(err, all.close(nil))
	}
	return all, certs.Listener("admin", adminLn), nil
}

// tcpDoor opens host:port, with TLS if the block listen has it. The port, if the system chose it,
// stays the same.
func tcpDoor(address string, certs *certificates.Store) (door, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return door{}, err
	}
	host, _, _ := net.SplitHostPort(address)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return door{certs.Listener("listen", ln), func() (net.Listener, error) {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return nil, err
		}
		return certs.Listener("listen", ln), nil
	}}, nil
}

// unixDoor opens the Unix socket, which has no TLS: nothing of it leaves the host.
func unixDoor(cfg proxy.Config) (door, error) {
	open := func() (net.Listener, error) { return listenUnix(cfg.Unix, cfg.Mode) }
	ln, err := open()
	return door{ln, open}, err
}

// listenAdmin opens the address for operators. If the default one is in use, most likely by another
// redlockd of this host, it opens a free port: locks matter more than where the page is.
func listenAdmin(cfg config.Admin, log hclog.Logger) (net.Listener, error) {
	ln, err := net.Listen("tcp", cfg.Address)
	if !errors.Is(err, syscall.EADDRINUSE) || !cfg.MayMove() {
		return ln, err
	}
	log.Warn("the default admin address is in use, serving at a free port of 127.0.0.1", "in_use", cfg.Address)
	return net.Listen("tcp", "127.0.0.1:0")
}
