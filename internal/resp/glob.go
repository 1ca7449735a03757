package resp

// Glob matches text with a pattern as Redis does: *, ?, [abc], [^a-z] and backslash. Its
// time is bounded by the product of the lengths, whatever the pattern.
func Glob(pattern, text string) bool {
	p, t := 0, 0
	star, mark := -1, 0 // the last *, and the end of what it matches so far
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, t
			p++
			continue
		}
		if n, ok := matchOne(pattern[p:], text[t]); ok {
			p, t = p+n, t+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, t = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches c with the beginning of the pattern and returns how many bytes of the
// pattern that used.
func matchOne(pattern string, c byte) (int, bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	}
	return 1, pattern[0] == c
}

// matchClass matches [...]; a class that is not closed ends with the pattern.
func matchClass(pattern string, c byte) (int, bool) {
	i, not, found := 1, false, false
	if i < len(pattern) && pattern[i] == '^' {
		not = true
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			found = found || pattern[i] == c
		case i+2 < len(pattern) && pattern[i+1] == '-':
			low, high := min(pattern[i], pattern[i+2]), max(pattern[i], pattern[i+2])
			found = found || (low <= c && c <= high)
			i += 2
		default:
			found = found || pattern[i] == c
		}
	}
	return min(i+1, len(pattern)), found != not
}
