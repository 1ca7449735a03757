package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestEverySettingIsCompared: otherwise a changed setting could be missed by a reload
// without any warning.
func TestEverySettingIsCompared(t *testing.T) {
	setEverything(t)
	cfg, _, err := Load(write(t, everything), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	got := fixed(cfg)
	// proxy.Server.Reload applies all of these at once.
	live := func(name string) bool {
		return name == "log.level" || strings.HasPrefix(name, "listen.") && !strings.HasPrefix(name, "listen.tls.") &&
			name != "listen.address" && name != "listen.unix" && name != "listen.mode" && name != "listen.drain"
	}
	var path []string
	for line := range strings.SplitSeq(everything, "\n") {
		words := strings.Fields(strings.ReplaceAll(line, `"`, ""))
		switch {
		case len(words) > 1 && words[1] == "=":
			name := strings.Join(append(path, words[0]), ".")
			file := words[0] == "cert" || words[0] == "key" || strings.HasPrefix(name, "master.")
			if _, ok := got[name]; !ok && !live(name) && !file {
				t.Errorf("%s is not compared", name)
			}
		case len(words) > 1 && words[len(words)-1] == "{":
			path = append(path, strings.Join(words[:len(words)-1], "."))
		case len(words) == 1 && words[0] == "}":
			path = path[:len(path)-1]
		}
	}
	if !reflect.DeepEqual(NeedsRestart(cfg, cfg), []string(nil)) {
		t.Errorf("differs from itself: %v", NeedsRestart(cfg, cfg))
	}
}
