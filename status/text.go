package status

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	// maxText bounds a text that a client chose.
	maxText = 120
	// maxReason bounds a text of redlockd's own, which may have such texts in it.
	maxReason = 500
)

// shown is a text that a client chose, for people: short, and quoted where it
// could look like something else, as control characters and those that turn
// the direction of writing do.
func shown(text string) string { return shownUpTo(maxText, text) }

// shownUpTo is shown, with another bound.
func shownUpTo(most int, text string) string {
	if len(text) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
}

// exact reports whether a text is shown as it is.
func exact(text string) bool { return shown(text) == text }
