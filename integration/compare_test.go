package integration

import (
	"os/exec"
	"testing"
)

// TestCompare runs the tests of integration/bench, the program of make bench,
// which is a module of its own.
func TestCompare(t *testing.T) {
	t.Parallel()
	program(t, "redis-server")
	for _, args := range [][]string{{"vet", "."}, {"test", "-count=1", "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "bench"
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, said)
		}
	}
}
