package front

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/redlockd/redlockd/integration/rig"
)

var (
	rounds = flag.Int("rounds", 0, "how often each client meets each fault; 0 runs nothing")
	only   = flag.String("only", "", "rows whose means/client matches this `regexp`")
	report = flag.String("report", "", "the `file` whose table is replaced")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(rig.Main(m))
}

// needsFront leaves out what needs programs that make deps does not install.
func needsFront(t *testing.T) {
	t.Helper()
	if *rounds == 0 {
		t.Skip("needs HAProxy, Envoy and keepalived: make front runs it")
	}
}

func wanted(name string) bool { return regexp.MustCompile(*only).MatchString(name) }
