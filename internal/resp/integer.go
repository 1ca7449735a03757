package resp

import "math"

// ParseInt parses an integer exactly as Redis does (string2ll): decimal, an optional
// minus, and nothing else: no plus, no spaces, no leading zeros, no "-0".
func ParseInt[W ~string | ~[]byte](w W) (int64, bool) {
	const longest = len("-9223372036854775808")
	if len(w) == 0 || len(w) > longest {
		return 0, false
	}
	if len(w) == 1 && w[0] == '0' {
		return 0, true
	}
	i, negative := 0, w[0] == '-'
	if negative {
		i = 1
	}
	if i == len(w) || w[i] < '1' || w[i] > '9' {
		return 0, false
	}
	var n uint64
	for ; i < len(w); i++ {
		d := w[i]
		if d < '0' || d > '9' || n > (math.MaxUint64-9)/10 {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	switch {
	case negative && n <= -math.MinInt64:
		return -int64(n), true
	case !negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}
