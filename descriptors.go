package main

import (
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
	masters := len(cfg.Quorum.Masters) + 1 // one more while their list is changed
	if cfg.Quorum.Masters[0].Embedded {
		masters = 2*len(cfg.Quorum.Masters) + 1 // both ends are here, and a listener
	}
	clients, operators, all := shareDescriptors(limit, masters)
	if most := cfg.Proxy.MaxClients; clients < most {
		log.Warn("too few open files are allowed, lowering max_clients", "max_clients", clients, "configured", most,
			"open_files", limit, "needed", most+all)
		cfg.Proxy.MaxClients = clients
	}
	return operators
}

// shareDescriptors returns how many clients and how many connections of operators a limit
// of descriptors allows, and how many all but clients may need. masters is how many
// connections one database has to the masters; each of them may be dialled anew while the
// one before is open. All databases and all operators have theirs if these are not more
// than half of the limit, else they share that half.
func shareDescriptors(limit, masters int) (clients, operators, all int) {
	others := filesOpen + proxy.MaxTurnedAway + 2*masters
	all = others + (quorum.Databases-1)*masters + admin.MaxConnections
	kept := max(others+leastOperators, min(all, limit/2))
	return max(limit-kept, 1), min(kept-others, admin.MaxConnections), all
}
