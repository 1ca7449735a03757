package certificates

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

// period is how often the files are read. A change is loaded when two looks in a row find
// the same new contents.
const period = 5 * time.Second

// Store holds all blocks tls of the process. Safe for concurrent use.
type Store struct {
	log hclog.Logger

	mu         sync.Mutex // held while files are loaded
	identities []*identity
}

// Open reads the files of all blocks. masters are the masters that blocks named by
// MasterBlock belong to. The error contains all problems; with an error the Store must
// not be used.
func Open(blocks Blocks, masters []quorum.Master, log hclog.Logger) (*Store, error) {
	s := &Store{log: log}
	var errs []error
	for _, block := range blocks.Names() {
		i := newIdentity(block, masters)
		if err := i.load(blocks[block]); err != nil {
			errs = append(errs, fmt.Errorf("%s.tls: %w", block, err))
		}
		s.identities = append(s.identities, i)
	}
	return s, errors.Join(errs...)
}

func (s *Store) of(block string) *identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.identities {
		if i.block == block {
			return i
		}
	}
	return nil
}

// Listener returns ln with TLS if the block has it, else ln itself.
func (s *Store) Listener(block string, ln net.Listener) net.Listener {
	if i := s.of(block); i != nil {
		return tls.NewListener(ln, i.server())
	}
	return ln
}

// Masters returns the list with TLS set for the masters that have a block.
func (s *Store) Masters(list []quorum.Master) []quorum.Master {
	list = slices.Clone(list)
	for k := range list {
		if i := s.of(MasterBlock(list[k].Name)); i != nil {
			list[k].TLS = i.client()
		}
	}
	return list
}

// Watch loads changed files until ctx is over.
func (s *Store) Watch(ctx context.Context) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.look()
		}
	}
}

// look loads the blocks whose files have changed.
func (s *Store) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all loads
	for _, i := range s.identities {
		if i.changed() {
			all.take(i, i.files)
		}
	}
	all.tell(s.log)
}

// Reload loads all files again, by the names that the blocks have now (SIGHUP). Blocks of
// masters are added and removed; those of listeners wait for the next start. A block
// whose files are wrong is logged and stays as it was; then Reload returns false.
func (s *Store) Reload(blocks Blocks, masters []quorum.Master) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all loads
	s.identities = slices.DeleteFunc(s.identities, func(i *identity) bool {
		_, stays := blocks[i.block]
		return !stays && IsMaster(i.block)
	})
	for k, i := range s.identities {
		files, ok := blocks[i.block]
		fresh := newIdentity(i.block, masters)
		switch {
		case !ok:
		case IsMaster(i.block) && (i.fixed(files) != files || fresh.host != i.host):
			if all.take(fresh, files) {
				s.identities[k] = fresh
			}
		default:
			all.take(i, i.fixed(files))
		}
	}
	for _, block := range blocks.Names() {
		known := slices.ContainsFunc(s.identities, func(i *identity) bool { return i.block == block })
		if fresh := newIdentity(block, masters); !known && IsMaster(block) && all.take(fresh, blocks[block]) {
			s.identities = append(s.identities, fresh)
		}
	}
	all.tell(s.log)
	return len(all.failed) == 0
}

// Expiries returns when redlockd's own certificates expire, by block. A block without a
// certificate is left out.
func (s *Store) Expiries() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := map[string]time.Time{}
	for _, i := range s.identities {
		if t := i.expiry(); !t.IsZero() {
			ends[i.block] = t
		}
	}
	return ends
}
