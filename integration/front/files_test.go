package front

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFiles: the programs find the files right as they are handed out.
func TestFiles(t *testing.T) {
	needsFront(t)
	for _, test := range []struct {
		file string
		argv []string
		// quiet is whether the program says something only of what is wrong:
		// with -t and a script, keepalived 2.2 ends by a signal to its own group.
		quiet bool
	}{
		{"haproxy/haproxy.cfg", []string{"haproxy", "-c", "-f"}, false},
		{"haproxy/keepalived.conf", []string{"keepalived", "-l", "-t", "-f"}, true},
		{"envoy/envoy.yaml", []string{envoyProgram(), "-l", "error", "--mode", "validate", "-c"}, false},
	} {
		t.Run(test.file, func(t *testing.T) {
			cmd := exec.Command(test.argv[0], append(test.argv[1:], filepath.Join(packaging, test.file))...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			said, err := cmd.CombinedOutput()
			if text := strings.TrimSpace(string(said)); test.quiet && text != "" || !test.quiet && err != nil {
				t.Errorf("%v: %s", err, text)
			}
			if cmd.ProcessState == nil {
				t.Errorf("%s did not run: %v", test.argv[0], err)
			}
		})
	}
}
