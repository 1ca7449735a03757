// Package invalid has the errors for wrong values in a configuration. They name the
// setting, so that the package that has read the file can report its line.
package invalid

import "fmt"

// Error describes one wrong value.
type Error struct {
	// Path is the setting's name within its package's block, like timeout or
	// user.orders.keys; or a block, like master.a.
	Path string

	text string
}

func (e *Error) Error() string { return e.text }

// Errorf returns an *Error for the path, whose text says what the value is and what was
// expected.
func Errorf(path, format string, args ...any) error {
	return &Error{Path: path, text: fmt.Sprintf(format, args...)}
}
