package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum"
)

// certificatePeriod is how often the files are looked at. A change is taken
// at the second look that finds it.
const certificatePeriod = 5 * time.Second

// certificates are all blocks tls of the process. Safe for concurrent use.
type certificates struct {
	log hclog.Logger

	mu         sync.Mutex // one reading at a time
	identities []*tlsIdentity
}

// openCertificates reads the files of all blocks tls.
func openCertificates(cfg config, log hclog.Logger) (*certificates, error) {
	c := &certificates{log: log}
	var errs []error
	for _, block := range cfg.tlsBlocks() {
		i := newIdentity(cfg, block)
		if err := i.load(cfg.tls[block]); err != nil {
			errs = append(errs, fmt.Errorf("%s.tls: %w", block, err))
		}
		c.identities = append(c.identities, i)
	}
	return c, errors.Join(errs...)
}

// newIdentity is a block without what its files say.
func newIdentity(cfg config, block string) *tlsIdentity {
	i := &tlsIdentity{block: block}
	for _, m := range cfg.quorum.Masters {
		if block == masterBlock(m.Name) {
			i.host, _, _ = net.SplitHostPort(m.Address)
		}
	}
	return i
}

// masterBlock is the path of a master's block.
func masterBlock(name string) string { return "master." + name }

func (c *certificates) of(block string) *tlsIdentity {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.identities {
		if i.block == block {
			return i
		}
	}
	return nil
}

// listener speaks TLS on ln, if the block has it.
func (c *certificates) listener(block string, ln net.Listener) net.Listener {
	if i := c.of(block); i != nil {
		return tls.NewListener(ln, i.server())
	}
	return ln
}

// masters is the list with the TLS of those that have it.
func (c *certificates) masters(list []quorum.Master) []quorum.Master {
	list = slices.Clone(list)
	for k := range list {
		if i := c.of(masterBlock(list[k].Name)); i != nil {
			list[k].TLS = i.client()
		}
	}
	return list
}

// watch takes changes of the files until ctx is over.
func (c *certificates) watch(ctx context.Context) {
	ticker := time.NewTicker(certificatePeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.look()
		}
	}
}

// look reads again what has changed.
func (c *certificates) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.identities {
		if i.changed() {
			c.take(i, i.files)
		}
	}
}

// reload reads all files again, of the names that cfg gives (SIGHUP). Those of
// masters come and go; of a listener they wait for the next start.
func (c *certificates) reload(cfg config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identities = slices.DeleteFunc(c.identities, func(i *tlsIdentity) bool {
		_, stays := cfg.tls[i.block]
		return !stays && cfg.isMaster(i.block)
	})
	for k, i := range c.identities {
		files, ok := cfg.tls[i.block]
		fresh := newIdentity(cfg, i.block)
		switch {
		case !ok:
		case cfg.isMaster(i.block) && (i.fixed(files) != files || fresh.host != i.host):
			if c.take(fresh, files) {
				c.identities[k] = fresh
			}
		default:
			c.take(i, i.fixed(files))
		}
	}
	for _, block := range cfg.tlsBlocks() {
		known := slices.ContainsFunc(c.identities, func(i *tlsIdentity) bool { return i.block == block })
		if fresh := newIdentity(cfg, block); !known && cfg.isMaster(block) && c.take(fresh, cfg.tls[block]) {
			c.identities = append(c.identities, fresh)
		}
	}
}

// take loads one and says what came of it.
func (c *certificates) take(i *tlsIdentity, files tlsFiles) bool {
	if err := i.load(files); err != nil {
		c.log.Error("cannot load new certificates, the old ones stay in force", "block", i.block, "error", err)
		return false
	}
	c.log.Info("certificates loaded", "block", i.block, "expire", expiryText(i.expiry()))
	return true
}

// expiryText is for people.
func expiryText(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format(time.RFC3339)
}

// expiries is when the own certificates end, by block.
func (c *certificates) expiries() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends := map[string]time.Time{}
	for _, i := range c.identities {
		if t := i.expiry(); !t.IsZero() {
			ends[i.block] = t
		}
	}
	return ends
}
