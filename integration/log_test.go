package integration

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestReaderOfTheLog is about who reads the log, through a pipe, and has gone or stands
// still: redlockd goes on serving, and ends as it should.
func TestReaderOfTheLog(t *testing.T) {
	for name, leave := range map[string]func(*os.File){
		"has gone":     func(r *os.File) { r.Close() },
		"stands still": func(*os.File) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command(rig.Binary(t), "-dev", "-listen", "127.0.0.1:0")
			cmd.Stdout, cmd.Stderr = w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill() //nolint:errcheck // it has ended unless the test failed
			w.Close()
			addr := servedAt(t, r)
			leave(r)
			wire := DialWire(t, addr)
			for range 20 { // a line each, and together more than a pipe holds
				wire.Ask("LOCKS", "FORCE", strings.Repeat("k", 4096))
			}
			eventually(t, "a lock is taken", func() (bool, string) {
				got := wire.Ask("SET", "k", "me", "NX", "PX", "60000")
				return got == "+OK\r\n", got // a busy machine may answer NOQUORUM
			})
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// servedAt reads the log up to the line "ready" and returns the address that it names.
func servedAt(t *testing.T, log *os.File) (address string) {
	t.Helper()
	line := regexp.MustCompile(`serving: .*\baddress="?([^\s"]+)`)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := line.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		if strings.Contains(lines.Text(), " ready: ") {
			return address
		}
	}
	t.Fatal("it never says that it is ready")
	return ""
}
