// Command redsync locks by redsync, over the adapter that the first argument
// names: goredis or redigo. That for rueidis is in older/.
package main

import (
	"clients/redsyncsteps"
	"clients/steps"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	overgoredis "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	overredigo "github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

func main() {
	own, addr, prefix := steps.Args()
	library := "github.com/redis/go-redis/v9"
	var pool redsyncredis.Pool = overgoredis.NewPool(goredis.NewClient(&goredis.Options{Addr: addr}))
	if own[0] == "redigo" {
		library = "github.com/gomodule/redigo"
		pool = overredigo.NewPool(&redis.Pool{MaxIdle: 8, Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", addr)
		}})
	}
	steps.Version("github.com/go-redsync/redsync/v4", library)
	redsyncsteps.Run(redsync.New(pool), prefix)
}
