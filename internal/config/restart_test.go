package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestEverySettingIsCompared: a setting that a reload forgets would be
// changed in the file and nowhere else, and nobody would say so.
func TestEverySettingIsCompared(t *testing.T) {
	setEverything(t)
	cfg, _, err := Load(write(t, everything), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	got := fixed(cfg)
	// What changes at once: proxy.Server.Reload takes all of its part.
	live := func(name string) bool {
		return name == "log.level" || strings.HasPrefix(name, "listen.") && !strings.HasPrefix(name, "listen.tls.") &&
			name != "listen.address" && name != "listen.drain"
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
