// Command redislock locks by bsm/redislock.
package main

import (
	"clients/redislocksteps"
	"clients/steps"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func main() {
	_, addr, prefix := steps.Args()
	steps.Version("github.com/bsm/redislock", "github.com/redis/go-redis/v9")
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	redislocksteps.Run(redislock.New(rdb), prefix+"redislock")
}
