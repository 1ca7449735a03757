package licences

import (
	"fmt"
	"slices"
	"strings"
)

// allowed go with MIT in one program (BSL is Boost's): they ask for their text to be passed on,
// and MPL-2.0 for the sources of its own files as well, where redlockd changes
// nothing.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC",
	"MIT", "MIT-0", "MPL-2.0", "Unicode-DFS-2016", "Unlicense",
}

// Problems says which modules have no licence that goes with MIT. A module
// with several must have none that does not.
func Problems(modules []Module) []string {
	var problems []string
	for _, m := range modules {
		if len(m.Licences) == 0 {
			problems = append(problems, fmt.Sprintf("%s %s has no licence that is known by its words", m.Path, m.Version))
		}
		for _, name := range m.Licences {
			if !slices.Contains(allowed, name) {
				problems = append(problems, fmt.Sprintf("%s %s is under %s", m.Path, m.Version, name))
			}
		}
	}
	return problems
}

// Text lists the modules, then passes their licences on.
func Text(modules []Module) string {
	var b strings.Builder
	b.WriteString("redlockd is under the MIT licence (see LICENSE). This program also contains, unchanged:\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "  %s %s: %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
	}
	b.WriteString("\nThe sources of each are at https://pkg.go.dev/NAME@VERSION, those of std at https://go.dev/dl.\n")
	for _, m := range modules {
		for _, f := range m.Files {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("-", 80), m.Path, m.Version, f.Name, strings.TrimSpace(f.Text))
		}
	}
	return b.String()
}
