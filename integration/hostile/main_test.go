package hostile

import (
	"flag"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

var (
	clients = flag.Int("clients", 400, "connections, of which half are hostile")
	lasting = flag.Duration("lasting", 3*time.Second, "how long the hostile ones go on")
	to      = flag.String("to", "", "be the hostile ones, of this `address`; the test starts them itself")
	rate    = flag.Int("rate", 200, "locks a second that the honest ones take and release together")
	// The ratio of waiting times is only of use on a machine that does nothing
	// else, and over enough of them.
	slower = flag.Float64("slower", 0, "by how much the 99th percentile may be greater with hostile clients; 0 is not looked at")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := openFiles(uint64(*clients) + 1000); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *to != "" {
		attack(*to, *clients/2)
		return
	}
	os.Exit(rig.Main(m))
}

// openFiles raises the limit of open files, which redlockd inherits.
func openFiles(n uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	if limit.Cur >= n {
		return nil
	}
	limit.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("%d open files are needed (ulimit -n), %d are allowed: %w", n, limit.Max, err)
	}
	return nil
}
