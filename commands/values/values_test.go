package values

import "testing"

func TestHash(t *testing.T) {
	one := HashOf(Member{"uuid:1", "1"})
	two, some := one.With("b", "").With("uuid:1", "2").Without("b")
	if v, ok := two.Get("uuid:1"); !ok || v != "2" || !some {
		t.Errorf("Get = %q, %v, others left %v, want 2", v, ok, some)
	}
	if a, b := HashOf(Member{"a", "1"}, Member{"b", "2"}), HashOf(Member{"b", "2"}, Member{"a", "1"}); a != b {
		t.Errorf("%q and %q, want one string for the same members", a, b)
	}
	if _, ok := one.Get("uuid"); ok {
		t.Error("a field is found by the beginning of its name")
	}
	if _, some := one.Without("uuid:1"); some {
		t.Error("the last field left others")
	}
	odd := HashOf(Member{"1:a,", ",:\x00\r\n"}, Member{"", "x"})
	if v, ok := odd.Get("1:a,"); !ok || v != ",:\x00\r\n" || len(odd.Members()) != 2 {
		t.Errorf("a field with the bytes of the form: %q, %v, %v", v, ok, odd.Members())
	}
}

func TestSameHolders(t *testing.T) {
	once, twice, other := string(HashOf(Member{"a", "1"})), string(HashOf(Member{"a", "2"})), string(HashOf(Member{"b", "1"}))
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"another count", once, twice, true},
		{"another field", once, other, false},
		{"one string", "a", "a", true},
		{"two strings", "a", "b", false},
		{"a string and a hash", "a", once, false},
		{"a field more", once, string(Hash(once).With("b", "1")), false},
	} {
		if got := SameHolders(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What another version, or somebody else, has stored must do no harm.
func TestHashOfDamagedBytes(t *testing.T) {
	for _, rest := range []string{"", "1", "1:", "1:a", "9:a,", "-1:a,", "1:a,1:b", "1:a,", "99999999999999999999:a,", "1:a;1:b,"} {
		h := Hash(beginsHash + rest)
		if list := h.Members(); len(list) > 0 {
			t.Errorf("%q has %v, want nothing", rest, list)
		}
		h.Get("a")
	}
	if kind := TypeOf(Magic + "zset 1:a,"); kind != "unknown" {
		t.Errorf("the type of a later kind is %q, want unknown", kind)
	}
}

func FuzzHash(f *testing.F) {
	f.Add("1:a,1:b,", "a", "2")
	f.Fuzz(func(t *testing.T, rest, field, value string) {
		h := Hash(beginsHash + rest)
		if v, ok := h.With(field, value).Get(field); !ok || v != value {
			t.Errorf("With(%q, %q) of %q holds %q, %v", field, value, rest, v, ok)
		}
		gone, _ := h.Without(field)
		if v, ok := gone.Get(field); ok {
			t.Errorf("Without(%q) of %q still holds %q", field, rest, v)
		}
	})
}
