package config

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Error is everything that is wrong with a configuration, from the top of the file down. It
// can print itself with the lines concerned.
type Error struct {
	name  string // of the file
	diags hcl.Diagnostics
	files map[string]*hcl.File
}

// newError returns the Error with all these problems, in any order.
func newError(name string, diags hcl.Diagnostics, files map[string]*hcl.File) *Error {
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		return cmp.Compare(line(a), line(b))
	})
	return &Error{name, diags, files}
}

func (e *Error) Error() string { return e.diags.Error() }

// Print writes every problem with its file, line and the line's text.
func (e *Error) Print(w io.Writer) {
	hcl.NewDiagnosticTextWriter(w, e.files, 78, false).WriteDiagnostics(e.diags)
}

// line returns the line of a problem; 0 if it has none.
func line(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return 0
	}
	return d.Subject.Start.Line
}

// Problem is one thing that is wrong.
type Problem struct {
	// At is the file and, where there is one, the line: redlockd.hcl:7.
	At   string
	Text string
}

// Problems returns all problems, for a log.
func (e *Error) Problems() []Problem {
	var out []Problem
	for _, d := range e.diags {
		at := e.name
		if n := line(d); n > 0 {
			at = fmt.Sprintf("%s:%d", e.name, n)
		}
		out = append(out, Problem{at, d.Summary + ": " + d.Detail})
	}
	return out
}
