// Package invalid has the errors of values that a configuration may not have.
// They name the setting, so that whoever has read the file can name the line.
package invalid

import "fmt"

// Error is one wrong value.
type Error struct {
	// Path is the setting as its package's block names it, as timeout; or a
	// block, as master.a or user.orders.
	Path string

	text string
}

func (e *Error) Error() string { return e.text }

// Errorf returns an *Error for the path, with a text that says what the value is
// and what was expected.
func Errorf(path, format string, args ...any) error {
	return &Error{Path: path, text: fmt.Sprintf(format, args...)}
}
