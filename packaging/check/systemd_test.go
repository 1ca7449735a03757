package check

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const unit = "../systemd/redlockd.service"

// analyze runs systemd-analyze, or says that the unit is not checked.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT CHECKED: the unit for systemd, because systemd-analyze is not here: ", err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// TestUnit: systemd knows every line, and finds the service well shut in.
func TestUnit(t *testing.T) {
	// A copy that starts the program where it is here.
	text := strings.ReplaceAll(string(read(t, unit)), "/usr/local/bin/redlockd", redlockd(t))
	copied := filepath.Join(t.TempDir(), "redlockd.service")
	write(t, copied, text)
	if out := analyze(t, "verify", "--man=no", copied); strings.Contains(out, "redlockd.service") {
		t.Error(out)
	}
	out := analyze(t, "security", "--offline=yes", "--no-pager", copied)
	found := regexp.MustCompile(`exposure level for redlockd\.service: ([0-9.]+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no level in:\n%s", out)
	}
	if level, err := strconv.ParseFloat(found[1], 64); err != nil || level > 1.5 {
		t.Errorf("exposure level %s, want 1.5 of 10 or less:\n%s", found[1], out)
	}
	t.Log(found[0])
}
