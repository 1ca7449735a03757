package resp

import (
	"math"
	"strconv"
	"testing"
)

func TestIntegersAreReadAsRedisReadsThem(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"1", 1, true},
		{"-1", -1, true},
		{"100", 100, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"18446744073709551615", 0, false},
		{"18446744073709551616", 0, false},
		{"99999999999999999999", 0, false},
		{"999999999999999999999", 0, false},
		{"0100", 0, false},
		{"00", 0, false},
		{"-0", 0, false},
		{"-01", 0, false},
		{"+100", 0, false},
		{"1e3", 0, false},
		{"1.0", 0, false},
		{" 1", 0, false},
		{"1 ", 0, false},
		{"", 0, false},
		{"-", 0, false},
		{"--1", 0, false},
		{"0x10", 0, false},
		{"1\x00", 0, false},
	} {
		got, ok := ParseInt([]byte(tt.in))
		if got != tt.want || ok != tt.ok {
			t.Errorf("ParseInt(%q): got %d, %v, want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"", "-", "0", "-9223372036854775808", "9223372036854775808"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseInt(s)
		// What Redis accepts as an integer is exactly what prints as it was written.
		want, err := strconv.ParseInt(s, 10, 64)
		if wantOK := err == nil && strconv.FormatInt(want, 10) == s; ok != wantOK || (ok && n != want) {
			t.Errorf("ParseInt(%q): got %d, %v, want %d, %v", s, n, ok, want, wantOK)
		}
	})
}
