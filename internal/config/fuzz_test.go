package config

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzConfig: no file ends the process, a wrong one is reported with some text, and a
// right one can be compared and shown.
func FuzzConfig(f *testing.F) {
	f.Add(everything)
	f.Add(listening("password_file = \"/dev/zero\"\npassword = [\"a\", 7]"))
	f.Add(listening("user \"u\" {\n password = \"#\"\n keys = [\"k\"]\n operations = [\"read\"]\n}"))
	f.Add("listen {\n max_clients = 1e999\n idle_timeout = \"9999999h\"\n}\n" + masters)
	f.Add("quorum {\n deny = " + strings.Repeat("[", 60) + "\n}")
	f.Add("listen {\n password = env(env(\"${\"))\n}")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return // hcl searches all of it for each problem that it shows
		}
		watchdog := time.AfterFunc(10*time.Second, func() { panic("does not end: " + source) })
		defer watchdog.Stop()
		cfg, _, err := decode("fuzz.hcl", []byte(source), "")
		var out bytes.Buffer
		var wrong *Error
		switch {
		case err == nil:
			if names := NeedsRestart(cfg, cfg); len(names) > 0 {
				t.Errorf("differs from itself in %q", names)
			}
			if err := cfg.WriteSummary(&out, "fuzz.hcl", nil); err != nil {
				t.Error(err)
			}
		case errors.As(err, &wrong):
			wrong.Print(&out)
		default:
			t.Errorf("neither right nor wrong: %v", err)
		}
		if out.Len() == 0 {
			t.Error("nothing is said")
		}
	})
}
