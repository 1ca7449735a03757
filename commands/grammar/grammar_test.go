package grammar

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The options of SET are the same for a client's bytes and for a script's values.
func TestParseSetOfBytesAndOfOthers(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
		ok   bool
	}{
		{"", "", true},
		{"NX PX 10", "nx px 2", true},
		{"px 10 nx Px 20", "nx px 4", true},
		{"XX IFEQ a GET", "xx get ifeq 2", true},
		{"IFDNE d EXAT 9", "ifdne 1 exat 3", true},
		{"KEEPTTL KEEPTTL", "keepttl", true},
		{"PX 1 EX 1", "", false},
		{"PX 1 KEEPTTL", "", false},
		{"KEEPTTL EX 1", "", false},
		{"NX XX", "", false},
		{"NX IFEQ a", "", false},
		{"XX IFNE a", "", false},
		{"IFNE a XX", "", false},
		{"PX", "", false},
		{"IFEQ", "", false},
		{"PERSIST", "", false},
	} {
		lines := strings.Fields(tt.line)
		at := make([]int, len(lines))
		for i := range at {
			at[i] = i
		}
		o, ok := ParseSet(at, func(i int) string { return lines[i] })
		if ok != tt.ok || ok && showSet(o) != tt.want {
			t.Errorf("%q: %q, %v", tt.line, showSet(o), ok)
		}
		var raw [][]byte
		for _, w := range lines {
			raw = append(raw, []byte(w))
		}
		b, ok := ParseSet(raw, func(w []byte) []byte { return w })
		if ok != tt.ok || ok && (b.NX != o.NX || b.XX != o.XX || b.Get != o.Get || b.Condition != o.Condition || b.Expiry != o.Expiry) {
			t.Errorf("%q as bytes: %+v, %v", tt.line, b, ok)
		}
	}
}

// showSet tells options whose operands are their places.
func showSet(o SetOptions[int]) string {
	var parts []string
	for name, set := range map[string]bool{"0nx": o.NX, "1xx": o.XX, "2get": o.Get} {
		if set {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	for i := range parts {
		parts[i] = parts[i][1:]
	}
	if o.Condition != NoCondition {
		parts = append(parts, string(o.Condition), strconv.Itoa(o.Compare))
	}
	switch o.Expiry {
	case NoUnit:
	case KeepTTL:
		parts = append(parts, "keepttl")
	default:
		parts = append(parts, []string{EX: "ex", PX: "px", EXAT: "exat", PXAT: "pxat"}[o.Expiry], strconv.Itoa(o.Number))
	}
	return strings.Join(parts, " ")
}

// What EXPIRE is told beside its time.
func TestParseExpireFlags(t *testing.T) {
	for line, want := range map[string]struct {
		flags       ExpireFlags
		unsupported int
		refused     string
	}{
		"":         {ExpireFlags{}, -1, ""},
		"xx GT":    {ExpireFlags{XX: true, GT: true}, -1, ""},
		"LT lt":    {ExpireFlags{LT: true}, -1, ""},
		"NX XX":    {ExpireFlags{NX: true, XX: true}, -1, errNXWith},
		"NX LT":    {ExpireFlags{NX: true, LT: true}, -1, errNXWith},
		"GT LT":    {ExpireFlags{GT: true, LT: true}, -1, errGTWithLT},
		"NX YY GT": {ExpireFlags{NX: true}, 1, ""},
	} {
		flags, unsupported, refused := ParseExpireFlags(strings.Fields(line), func(w string) string { return w })
		if flags != want.flags || unsupported != want.unsupported || refused != want.refused {
			t.Errorf("%q: %v, %d, %q", line, flags, unsupported, refused)
		}
	}
}

func TestIsKnowsNoCase(t *testing.T) {
	for _, tt := range []struct {
		word, lower string
		want        bool
	}{{"IFEQ", "ifeq", true}, {"ifEq", "ifeq", true}, {"ifeqx", "ifeq", false}, {"[", "{", false}, {"", "", true}} {
		if got := Is(tt.word, tt.lower); got != tt.want {
			t.Errorf("Is(%q, %q) = %v", tt.word, tt.lower, got)
		}
	}
}
