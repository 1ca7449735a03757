package vote

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestV8TableOfReplies checks that the table of V8 in docs/design.md tells the replies to an
// extend and to a release, for any votes of one to seven masters.
func TestV8TableOfReplies(t *testing.T) {
	text, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### More on V8\n")
	rows := regexp.MustCompile("(?m)^\\| .* \\| (`NOQUORUM`|[01]) \\| (`NOQUORUM`|[01]) \\|$").FindAllStringSubmatch(section, 4)
	if len(rows) != 4 {
		t.Fatalf("the table has %d rows, want 4", len(rows))
	}
	reply := map[Verdict]string{Won: "1", Held: "0", NoLock: "0", Undecided: "`NOQUORUM`"}
	for n := 1; n <= 7; n++ {
		for yes := range n + 1 {
			for silent := range n + 1 - yes {
				for met := range n + 1 - yes - silent {
					absent := n - yes - silent - met
					row := rowOf(yes, silent, met, n)
					for column, kind := range []Kind{Extend, Release} {
						v, certain := VerdictOf(Question{Kind: kind, Token: "ours"}, cast(kind, yes, silent, met, absent), Needs{Quorum: Majority(n), Required: -1})
						if want := rows[row][column+1]; !certain || reply[v] != want {
							t.Errorf("kind %v: %d yes, %d silent, %d other tokens, %d absent: %v, certain %v, want %s", kind, yes, silent, met, absent, v, certain, want)
						}
					}
				}
			}
		}
	}
}

// rowOf returns the row of the table that fits: the first one that does.
func rowOf(yes, silent, met, n int) int {
	q := Majority(n)
	return slices.Index([]bool{yes >= q, yes+silent < q, yes >= 1 && n-silent >= q && met == 0, true}, true)
}

// cast returns so many ballots of each sort.
func cast(kind Kind, yes, silent, met, absent int) (out []Ballot) {
	agrees := Prolonged
	if kind == Release {
		agrees = Released
	}
	out = slices.Repeat([]Ballot{{Vote: agrees}}, yes)
	out = append(out, slices.Repeat([]Ballot{{Vote: Silent}}, silent)...)
	out = append(out, slices.Repeat([]Ballot{{Vote: Refused, Token: "other"}}, met)...)
	return append(out, slices.Repeat([]Ballot{{Vote: Absent}}, absent)...)
}
