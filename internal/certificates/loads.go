package certificates

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

// loads is what came of loading the files of several blocks. Most blocks have the same files,
// so the log says it once for all of them.
type loads struct {
	loaded, failed []string
	// expire is when the first certificate ends; zero for none.
	expire time.Time
	errors []string
}

// take loads the files of one block, and reports whether they are in force now.
func (all *loads) take(i *identity, files Files) bool {
	if err := i.load(files); err != nil {
		all.failed = append(all.failed, i.block)
		if text := oneLine(err); !slices.Contains(all.errors, text) {
			all.errors = append(all.errors, text)
		}
		return false
	}
	all.loaded = append(all.loaded, i.block)
	if ends := i.expiry(); all.expire.IsZero() || !ends.IsZero() && ends.Before(all.expire) {
		all.expire = ends
	}
	return true
}

// tell logs it, in the order of the blocks' names.
func (all *loads) tell(log hclog.Logger) {
	if len(all.failed) > 0 {
		log.Error("cannot load new certificates, the old ones stay in force", "blocks", names(all.failed), "error", strings.Join(all.errors, "; "))
	}
	if len(all.loaded) > 0 {
		log.Info("certificates loaded", "blocks", names(all.loaded), "expire", expiryText(all.expire))
	}
}

func names(blocks []string) string {
	slices.Sort(blocks)
	return strings.Join(blocks, ", ")
}

// oneLine is an error that may be several, one for each file.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// expiryText formats an expiry for operators.
func expiryText(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format(time.RFC3339)
}
