package vote

import "testing"

// TestWeights is the table of what a master's answer counts for (M3 to M5, M8, M9).
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Standing
		want Weight
	}{
		{"all is well", Standing{Fits: true}, Full},
		{"M5 its clock may have stepped", Standing{Fits: true, MayHaveStepped: true}, NoAbsence},
		{"M4 in quarantine", Standing{Fits: true, Quarantined: true}, FoundOnly},
		{"M4 also if its clock may have stepped", Standing{Fits: true, Quarantined: true, MayHaveStepped: true}, FoundOnly},
		{"M8 it joins", Standing{Fits: true, Joins: true}, HealOnly},
		{"M8 it joins, in quarantine", Standing{Fits: true, Joins: true, Quarantined: true}, HealOnly},
		{"M3 another mark or clock", Standing{}, Void},
		{"M3 whatever else it is", Standing{Joins: true, Quarantined: true, MayHaveStepped: true}, Void},
	} {
		if got := c.s.Weight(); got != c.want {
			t.Errorf("%s: weight %d, want %d", c.name, got, c.want)
		}
	}
}

// TestWhatCounts is, for each weight, what becomes of each answer: as it is (=), silent (-),
// silent but known to be absent (a), or found on a master in quarantine (d).
func TestWhatCounts(t *testing.T) {
	for _, c := range []struct {
		answer Ballot
		asked  Kind
		want   string // Full, NoAbsence, FoundOnly, HealOnly, Void
	}{
		{Ballot{Vote: Created}, Acquire, "==---"},
		{Ballot{Vote: Prolonged}, Extend, "==---"},
		{Ballot{Vote: Longer}, Extend, "==---"},
		{Ballot{Vote: Refused, Token: "x"}, Acquire, "===--"},
		{Ballot{Vote: Refused, Token: "x"}, Extend, "==---"},
		{Ballot{Vote: Refused, Token: "x"}, Release, "==---"},
		{Ballot{Vote: Refused, Foreign: true}, Release, "===--"},
		{Ballot{Vote: Found, Token: "x"}, Read, "==d--"},
		{Ballot{Vote: Released}, Release, "===--"},
		{Ballot{Vote: Absent}, Read, "=aaa-"},
		{Ballot{Vote: Absent}, Extend, "=aaa-"},
		{Ballot{Vote: Silent}, Acquire, "=----"},
	} {
		for w := Full; w <= Void; w++ {
			got, how := w.Of(c.answer, c.asked), byte('-')
			switch {
			case got.AbsentVoid:
				how = 'a'
			case got.Doubtful:
				how = 'd'
			case w == Full || got.Vote != Silent:
				how = '='
			}
			if (how == '=' || how == 'd') && got.Vote != c.answer.Vote || how == 'a' && got.Vote != Silent || how != c.want[w] {
				t.Errorf("%+v to kind %d at weight %d: %+v, want %c", c.answer, c.asked, w, got, c.want[w])
			}
		}
	}
}
