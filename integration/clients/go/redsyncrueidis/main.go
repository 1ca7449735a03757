// Command redsync locks by redsync over rueidis. Apart from redsync, so
// that those two can be built where rueidis has no package.
package main

import (
	"clients/redsyncsteps"
	"clients/steps"

	"github.com/go-redsync/redsync/v4"
	overrueidis "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

func main() {
	_, addr, prefix := steps.Args()
	steps.Version("github.com/go-redsync/redsync/v4", "github.com/redis/rueidis")
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}})
	steps.Tell("connect", steps.Result(true, err))
	if err == nil {
		redsyncsteps.Run(redsync.New(overrueidis.NewPool(rueidiscompat.NewAdapter(c))), prefix)
		c.Close()
	}
}
