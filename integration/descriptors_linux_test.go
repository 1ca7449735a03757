package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestS5NoDescriptorIsLeft: even when all descriptors are in use, a connection is told so
// and closed, and does not wait.
func TestS5NoDescriptorIsLeft(t *testing.T) {
	t.Parallel()
	r, _ := StartCluster(t, 3)
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	allowed := uint64(len(open) + 10)
	if err := unix.Prlimit(r.Pid(), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: allowed, Max: allowed}, nil); err != nil {
		t.Fatal(err)
	}
	clients := fill(t, r.Addr)
	if got := clients[0].Ask("SET", "k", "me", "NX", "PX", "1000"); got != "+OK\r\n" {
		t.Errorf("SET: %q", got)
	}
	if log := r.Log(); !strings.Contains(log, "too many open files, rejecting connections") {
		t.Errorf("the log does not say that files are lacking:\n%s", log)
	}
	clients[1].Close()
	eventually(t, "who leaves makes room", func() (bool, string) {
		got := DialWire(t, r.Addr).Ask("PING")
		return got == "+PONG\r\n", got
	})
}
