package main

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// A process may have only so many descriptors open. Clients get what the others leave: a
// connection that cannot be accepted would wait without a word, and so would a load
// balancer that asks for /readyz.
const (
	// filesOpen is about how many there are beside connections: listeners, pollers, what is
	// read now and then.
	filesOpen = 20
	// leastOperators is how many connections to the admin address there may be at least.
	leastOperators = 8
)

// fitDescriptors lowers max_clients to what the system's limit of open files allows, and
// says so. It returns how many connections the admin address may have. Go's runtime has
// raised the soft limit to the hard one by then.
func fitDescriptors(cfg *config.Config, log hclog.Logger) (operators int) {
	limit := descriptorLimit()
	clients, operators, all := shareDescriptors(limit, toMasters(cfg))
	if most := cfg.Proxy.MaxClients; clients < most {
		log.Warn("too few open files are allowed, lowering max_clients", "max_clients", clients, "configured", most,
			"open_files", limit, "needed", most+all)
		cfg.Proxy.MaxClients = clients
	}
	return operators
}

// enoughDescriptors returns an error if the system's limit of open files does not allow one
// client beside the masters.
func enoughDescriptors(cfg *config.Config, limit int) error {
	if least := filesOpen + toMasters(cfg) + 1; limit < least {
		return fmt.Errorf("only %d open files are allowed, and %d masters and one client need %d: raise the limit (ulimit -n, LimitNOFILE)",
			limit, len(cfg.Quorum.Masters), least)
	}
	return nil
}

// toMasters returns how many descriptors the connections of one database to the masters
// take.
func toMasters(cfg *config.Config) int {
	masters := len(cfg.Quorum.Masters)
	if cfg.Quorum.Masters[0].Embedded {
		return 2*masters + 1 // both ends are here, and a listener
	}
	return masters + 1 // one more while their list is changed
}

// shareDescriptors returns how many clients and how many connections of operators a limit
// of descriptors allows, and how many all but clients may need. masters is how many
// connections one database has to the masters, and the messages (S7); each of them may be
// dialled anew while the one before is open. All databases and all operators have theirs if
// these are not more than half of the limit, else they share that half.
func shareDescriptors(limit, masters int) (clients, operators, all int) {
	others := filesOpen + proxy.MaxTurnedAway + 2*masters
	all = others + quorum.Databases*masters + admin.MaxConnections
	kept := max(others+leastOperators, min(all, limit/2))
	return max(limit-kept, 1), min(kept-others, admin.MaxConnections), all
}
