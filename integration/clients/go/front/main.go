// Command front is go-redis behind one address for several redlockd (integration/front): it takes
// and releases a lock that others want, too, and extends one that nobody else may get, until its
// input ends.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"clients/steps"

	"github.com/redis/go-redis/v9"
)

var (
	ctx     = context.Background()
	release = redis.NewScript(`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`)
	extend  = redis.NewScript(`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`)
)

func main() {
	_, addr, prefix := steps.Args()
	c := redis.NewClient(&redis.Options{Addr: addr, DialTimeout: time.Second, ReadTimeout: time.Second, WriteTimeout: time.Second})
	defer c.Close()
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	held, wanted, mine := prefix+"held", prefix+"wanted", rand.Text()
	call("hold", func() (bool, error) { return c.SetNX(ctx, held, mine, 20*time.Second).Result() })
	for !over.Load() {
		token := rand.Text()
		if call("take", func() (bool, error) { return c.SetNX(ctx, wanted, token, 2*time.Second).Result() }) {
			call("release", func() (bool, error) { return release.Run(ctx, c, []string{wanted}, token).Bool() })
		}
		call("extend", func() (bool, error) { return extend.Run(ctx, c, []string{held}, mine, 20000).Bool() })
		time.Sleep(20 * time.Millisecond)
	}
}

// call tells what was called, when it was sent and answered, and the answer: 1, 0 or an error.
func call(kind string, do func() (bool, error)) bool {
	sent := time.Now()
	ok, err := do()
	answer := map[bool]string{true: "1", false: "0"}[ok]
	if err != nil {
		answer = "error: " + strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Println(kind, millis(sent), millis(time.Now()), answer)
	return ok && err == nil
}

func millis(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMicro())/1000) }
