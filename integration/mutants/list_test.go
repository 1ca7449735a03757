package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMutantsApply keeps the list in step with the code: a mutant whose text
// is not there any more guards nothing.
func TestMutantsApply(t *testing.T) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if _, err := m.overlay(t.TempDir()); err != nil {
			t.Errorf("%s, %s: %v", m.rule, m.name, err)
		}
	}
}
