package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// profile writes a profile of redlockd's processor time, as the compiler takes it, into a
// file. It is busy with workload a, as long with each number of clients of each kind.
func (b *bench) profile(file string) error {
	c, err := b.rig.cluster(b.ctx, clusterOptions{})
	if err != nil {
		return err
	}
	var fleets []contender
	for _, n := range clientCounts {
		piped, err := pipelining(throughPipeline, c.redlockd.addr, n)
		if err != nil {
			return err
		}
		for _, f := range []fleet{goRedis(through, c.redlockd.addr, n), piped} {
			defer f.close()
			fleets = append(fleets, contender{f, "", n, parts{masters: c.masters, redlockd: c.redlockd}})
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.redlockd.profile(file, time.Duration(len(fleets))*b.length) }()
	for _, f := range fleets {
		fmt.Fprintf(b.out, "  %d clients, %s\n", f.clients, f.name)
		cycles(f.fleet, f.clients, b.length, f.parts)
	}
	return <-done
}

// profile has redlockd watch its processor time for so long.
func (p *process) profile(file string, length time.Duration) error {
	reply, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.admin, max(1, length/time.Second)))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("a profile: %s", reply.Status)
	}
	profile, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, profile, 0o644)
}
