package grammar

// Word is one word of a command.
type Word interface{ ~string | ~[]byte }

// Redis's own texts for wrong words.
const (
	ErrSyntax     = "ERR syntax error"
	ErrNotInteger = "ERR value is not an integer or out of range"
)

// Is reports whether w equals lower, which is in lower case, ignoring the case of w. It
// does not allocate.
func Is[W Word](w W, lower string) bool {
	if len(w) != len(lower) {
		return false
	}
	for i := range lower {
		if Lower(w[i]) != lower[i] {
			return false
		}
	}
	return true
}

// Lower returns a letter in lower case.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
