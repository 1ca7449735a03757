package admin

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestDocsNameRealMetrics: an alert on a metric that does not exist would never fire.
func TestDocsNameRealMetrics(t *testing.T) {
	source := threeMasters()
	_, url := startAdmin(t, "", source)
	code, body := get(t, url+"/metrics", "")
	if code != http.StatusOK {
		t.Fatal(code)
	}
	for file, least := range map[string]int{"docs/operations.md": 15, "docs/grafana.json": 15, "docs/alerts.yml": 8} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`redlockd_[a-z][a-z_]*`).FindAllString(string(text), -1)
		slices.Sort(names)
		names = slices.Compact(names)
		if len(names) < least {
			t.Errorf("%s names only %d metrics", file, len(names))
		}
		for _, name := range names {
			if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(body) {
				t.Errorf("%s names %s, which is not served", file, name)
			}
		}
	}
}
