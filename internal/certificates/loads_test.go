package certificates

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/certtest"
	"github.com/redlockd/redlockd/quorum"
)

// TestOneLineForCertificates: all blocks usually have files of one authority, so what came of
// loading them is one line, with the block that ends first.
func TestOneLineForCertificates(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	files := named(ca.Files(t, "one"))
	blocks := Blocks{"listen": files, "admin": files, "master.a": files, "master.b": files}
	masters := []quorum.Master{{Name: "a", Address: "a:1"}, {Name: "b", Address: "b:1"}}
	var out bytes.Buffer
	certs, err := Open(blocks, masters, hclog.New(&hclog.LoggerOptions{Output: &out}))
	if err != nil {
		t.Fatal(err)
	}
	told := func(want string) {
		t.Helper()
		if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
			t.Errorf("says\n%swant one line with %s", got, want)
		}
		out.Reset()
	}
	if !certs.Reload(blocks, masters) {
		t.Error("good files are refused")
	}
	told(`[INFO]  certificates loaded: blocks="admin, listen, master.a, master.b" expire=`)
	if err := os.WriteFile(files.Key, []byte("half a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if certs.Reload(blocks, masters) {
		t.Error("wrong files are said to be loaded")
	}
	told(`[ERROR] cannot load new certificates, the old ones stay in force: blocks="admin, listen, master.a, master.b" error="cert `)
}
