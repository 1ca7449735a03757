package lua

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// MaxExact bounds the integers that Lua's numbers represent exactly and write without an
// exponent.
const MaxExact = 4_000_000_000_000_000

var (
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	hexText     = regexp.MustCompile(`^[+-]?0[xX][0-9a-fA-F]{1,12}$`)
	// oddText matches texts that C's strtod may read as a number in ways of its own.
	oddText = regexp.MustCompile(`(?i)^[+-]?(0x|inf|nan)`)
)

// parseNumber parses a number as Lua 5.1 does.
func parseNumber(s string) (float64, bool) {
	if n, ok := shortNumber(s); ok {
		return n, true
	}
	if hexText.MatchString(s) {
		digits := strings.TrimLeft(s, "+-")[2:]
		n, err := strconv.ParseUint(digits, 16, 64)
		if s[0] == '-' {
			return -float64(n), err == nil
		}
		return float64(n), err == nil
	}
	if !decimalText.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// shortNumber is parseNumber for a few digits, as in most scripts.
func shortNumber(s string) (n float64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + float64(s[i]-'0')
	}
	return n, 0 < len(s) && len(s) < 16
}

// numberIn returns the number in a string, as Lua's arithmetic converts it.
func numberIn(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\v\f\r")
	if f, ok := parseNumber(s); ok {
		return f, true
	}
	if oddText.MatchString(s) || decimalText.MatchString(s) || strings.IndexByte(s, 0) >= 0 {
		Refuse("reads %.40q as a number", s)
	}
	return 0, false
}

// Text returns a string or number as a string, as Lua's .. and string functions convert
// it. The caller must exclude other types.
func Text(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return FormatNumber(v, 14)
	}
	return ""
}

// FormatNumber formats like C's %.<digits>g.
func FormatNumber(f float64, digits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		Refuse("converts a number that is not finite to a string")
	}
	if f == math.Trunc(f) && math.Abs(f) < math.Pow10(digits) && math.Abs(f) < 1<<62 && f != 0 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

func calculate(operator string, x, y float64) Value {
	switch operator {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		return x - float64(math.Floor(x/y)*y) // two roundings, as in C
	}
	return math.Pow(x, y)
}
