package grammar

// Word is one word of a command.
type Word interface{ ~string | ~[]byte }

// Redis's own texts for words that are not as they must be.
const (
	ErrSyntax     = "ERR syntax error"
	ErrNotInteger = "ERR value is not an integer or out of range"
)

// Is reports whether a word is this one, given in lower case, in any case and
// without allocating.
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

// Lower is a letter in lower case.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
