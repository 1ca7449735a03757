package resp

import "strconv"

// splitInline splits an inline command by Redis's rules: words between white space; "..."
// with \n, \r, \t, \b, \a, \xHH and any other character after a backslash; '...' with \'
// alone; a closing quote ends its word. It returns false if the quotes are not balanced.
// redcon knows neither \xHH nor the difference between the quotes.
func splitInline(line []byte) (args [][]byte, ok bool) {
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return args, true
		}
		word, n, ok := inlineWord(line[i:])
		if !ok {
			return nil, false
		}
		args = append(args, word)
		i += n
	}
}

// inlineWord reads one word and returns how many bytes of the line it used.
func inlineWord(line []byte) (word []byte, n int, ok bool) {
	word = []byte{}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && isSpace(c):
			return word, i, true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0:
			word = append(word, c)
		case c == quote:
			return word, i + 1, i+1 == len(line) || isSpace(line[i+1])
		case c == '\\' && i+1 < len(line) && (quote == '"' || line[i+1] == '\''):
			c, more := escaped(line[i+1:], quote)
			word = append(word, c)
			i += more
		default:
			word = append(word, c)
		}
	}
	return word, len(line), quote == 0
}

// escaped returns the character that a backslash and the bytes after it stand for, and
// how many of these bytes it used.
func escaped(rest []byte, quote byte) (c byte, n int) {
	if quote == '"' {
		if rest[0] == 'x' && len(rest) > 2 {
			if b, err := strconv.ParseUint(string(rest[1:3]), 16, 8); err == nil {
				return byte(b), 3
			}
		}
		switch rest[0] {
		case 'n':
			return '\n', 1
		case 'r':
			return '\r', 1
		case 't':
			return '\t', 1
		case 'b':
			return '\b', 1
		case 'a':
			return '\a', 1
		}
	}
	return rest[0], 1
}

func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' || c == 0
}
