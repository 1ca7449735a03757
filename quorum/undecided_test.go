package quorum

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUndecidedTextsStandInOneFile checks that all errors of undecided operations have
// one type, and all their texts are in one file (P4).
func TestUndecidedTextsStandInOneFile(t *testing.T) {
	names, err := filepath.Glob("../*/*.go")
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == filepath.Join("..", "quorum", "undecided.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"NOQUORUM `) {
			t.Errorf("%s has a text of its own: they belong to undecided.go", name)
		}
	}
	for _, err := range []error{tooLate(Acquire, 1, 1), errNotListed, errStopping, errCrowdedKey, errGone, ErrLockChanged} {
		if !strings.HasPrefix(err.Error(), "NOQUORUM ") {
			t.Errorf("%q does not begin with NOQUORUM", err)
		}
	}
}
