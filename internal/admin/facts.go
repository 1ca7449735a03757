package admin

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/status"
)

// Build is what this redlockd was built from.
type Build struct {
	// Version is short, for a metric's label.
	Version string
	// Details is the version and everything else that is known about the build, for
	// operators.
	Details string
}

// facts returns what the status page shows of the build and the configuration, without
// secrets and names of files.
func facts(cfg config.Config, build Build) []status.Fact {
	users := "no password"
	if n := len(cfg.Proxy.Users); n > 0 || len(cfg.Proxy.Passwords) > 0 {
		users = "passwords, " + strconv.Itoa(n) + " users beside default"
	}
	deny := "nothing"
	if len(cfg.Commands.Deny) > 0 {
		deny = strings.Join(cfg.Commands.Deny, ", ")
	}
	q := cfg.Quorum
	return []status.Fact{
		{Name: "version", Value: build.Details},
		{Name: "runs on", Value: runtime.GOOS + " " + runtime.GOARCH + ", " + strconv.Itoa(runtime.GOMAXPROCS(0)) + " processors"},
		{Name: "listens on", Value: cfg.ListensOn() + ", " + users},
		{Name: "masters", Value: strconv.Itoa(len(q.Masters)) + ", " + strconv.Itoa(cfg.Majority()) + " must agree"},
		{Name: "timeout", Value: q.Timeout.String()},
		{Name: "retry_budget", Value: q.RetryBudget.String()},
		{Name: "clock_drift", Value: strconv.FormatFloat(q.ClockDrift, 'g', -1, 64)},
		{Name: "max_ttl", Value: q.MaxTTL.String()},
		{Name: "no_expiry", Value: string(cfg.Commands.NoExpiry)},
		{Name: "denied commands", Value: deny},
		{Name: "max_clients", Value: strconv.Itoa(cfg.Proxy.MaxClients)},
	}
}
