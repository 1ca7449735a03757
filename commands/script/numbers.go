package script

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	hexText     = regexp.MustCompile(`^[+-]?0[xX][0-9a-fA-F]{1,12}$`)
	// oddText is what C's strtod may read as a number in its own ways.
	oddText = regexp.MustCompile(`(?i)^[+-]?(0x|inf|nan)`)
)

// parseNumber reads a number as Lua 5.1 does.
func parseNumber(s string) (float64, bool) {
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

// number converts a real value as Lua's arithmetic does: numbers, and strings
// that hold one.
func (r *run) number(v value) (float64, bool) {
	s, ok := v.(string)
	if !ok {
		f, ok := v.(float64)
		return f, ok
	}
	r.step(1 + len(s)/16)
	s = strings.Trim(s, " \t\n\v\f\r")
	if f, ok := parseNumber(s); ok {
		return f, true
	}
	if oddText.MatchString(s) || decimalText.MatchString(s) || strings.IndexByte(s, 0) >= 0 {
		refuse("reads %.40q as a number", s)
	}
	return 0, false
}

// text is a string or number as a string, as Lua's .. and string functions
// take it. Other types are the caller's error.
func (r *run) text(v value) string {
	switch v := r.reveal(v).(type) {
	case string:
		return v
	case float64:
		return formatNumber(v, 14)
	}
	return ""
}

// formatNumber is C's %.<digits>g.
func formatNumber(f float64, digits int) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		refuse("converts a number that is not finite to a string")
	}
	if f == math.Trunc(f) && math.Abs(f) < math.Pow10(digits) && math.Abs(f) < 1<<62 && f != 0 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

// arithmetic is + - * / % ^ on two values. A sealed number times or plus a
// constant stays sealed.
func (r *run) arithmetic(operator string, a, b value, nameA, nameB string) value {
	a, b = r.operand(a), r.operand(b)
	if v, ok := sealedArithmetic(operator, a, b); ok {
		return v
	}
	if _, ok := b.(remaining); ok {
		panic(unproved{})
	}
	x, okA := r.number(r.reveal(a))
	y, okB := r.number(r.reveal(b))
	switch {
	case !okA:
		r.fail("attempt to perform arithmetic on %s", describe(nameA, a))
	case !okB:
		r.fail("attempt to perform arithmetic on %s", describe(nameB, b))
	}
	return calculate(operator, x, y)
}

// operand is a sealed input as the number it holds.
func (r *run) operand(v value) value {
	if s, ok := v.(sealed); ok && r.form.numeric(s.class) {
		return linear{s.class, 1, 0}
	}
	return v
}

func sealedArithmetic(operator string, a, b value) (value, bool) {
	l, left := a.(linear)
	c, constant := b.(float64)
	if !left {
		l, left = b.(linear)
		c, constant = a.(float64)
		if operator == "-" && left && constant { // c - l = -l + c
			l, operator = linear{l.class, -l.mul, -l.add}, "+"
		}
	}
	if !left || !constant {
		return nil, false
	}
	mul, add := float64(l.mul), float64(l.add)
	switch operator {
	case "+":
		add += c
	case "-":
		add -= c
	case "*":
		mul, add = mul*c, add*c
	default:
		return nil, false
	}
	l, fits := newLinear(l.class, mul, add)
	return l, fits
}

func calculate(operator string, x, y float64) value {
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
