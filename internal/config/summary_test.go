package config

import (
	"strings"
	"testing"
)

func TestSummarySaysWhatWasChecked(t *testing.T) {
	setEverything(t)
	name := write(t, everything)
	cfg, warned, err := Load(name, "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	var out strings.Builder
	if err := cfg.WriteSummary(&out, name, warned); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{name + " is valid", "0.0.0.0:7777 over TLS with certificates on both sides and /run/redlockd/redlockd.sock (mode 0600)", "with a password", "1 masters", "10.0.0.1:6379 over TLS with", "11s",
		"0.0.0.0:7778 over TLS\n", "warning:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("does not say %q: %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("shows a password: %s", out.String())
	}
}
