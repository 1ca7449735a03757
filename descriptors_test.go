package main

import (
	"testing"

	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/quorum"
)

// TestShareDescriptors: masters, operators and files come first, and clients get the rest.
func TestShareDescriptors(t *testing.T) {
	const five, embedded = 6, 11 // connections to the masters
	for _, c := range []struct {
		name                           string
		limit, masters                 int
		wantClients, wantMostOperators int
	}{
		{"ample", 20_000, five, 19_800, 64},
		{"what systems often allow", 1024, five, 824, 64},
		{"half is for clients", 256, five, 128, 64},
		{"hardly any", 64, five, 16, 8},
		{"hardly any, with the masters in the process", 64, embedded, 6, 8},
		{"fifteen masters", 256, 16, 128, 64},
		{"only just enough", 27, five, 1, 8},
	} {
		clients, operators, all := shareDescriptors(c.limit, c.masters)
		if clients != c.wantClients || operators != c.wantMostOperators {
			t.Errorf("%s: %d of %d are for clients and %d for operators, want %d and %d", c.name,
				clients, c.limit, operators, c.wantClients, c.wantMostOperators)
		}
		if enough, _, _ := shareDescriptors(1000+all, c.masters); enough != 1000 {
			t.Errorf("%s: %d are said to be needed for 1000 clients, and leave %d", c.name, 1000+all, enough)
		}
	}
}

// S5: where not even one client fits beside the masters, the start says so.
func TestS5TooFewDescriptors(t *testing.T) {
	var cfg config.Config
	cfg.Quorum.Masters = make([]quorum.Master, 5)
	if err := enoughDescriptors(&cfg, 27); err != nil {
		t.Error(err)
	}
	const want = "only 26 open files are allowed, and 5 masters and one client need 27: raise the limit (ulimit -n, LimitNOFILE)"
	if err := enoughDescriptors(&cfg, 26); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
