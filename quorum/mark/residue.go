package mark

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An attempt's name is its token and its expiry (V6). So that two redlockd never
// give one name on one master, each makes expiries of its own: those with its
// residue mod residues. Residue 0 is for what is prolonged, by anybody, and
// is never rolled back. The residues are claimed in the mark of database 0, and
// a claim lasts as long as its redlockd renews it.

const (
	// A claim is renewed after claimRenew beats of the mark, and free for others
	// after claimBeats. A beat takes a second or more, but who looks late raises it
	// at once: the 31 that can have a residue make 20 a second at most, so that
	// many beats take longer than claimTrust. Who has not seen its own claim for
	// that long, by its own clock, creates nothing there.
	claimRenew = 20
	claimBeats = 120
	claimTrust = 5 * time.Second
)

// Residues is how many kinds of expiries there are, by their remainders (V6): 0
// is that of what was prolonged, healed or stored over, and each other one that
// of what one redlockd has created on a master (residue.go).
const Residues = 32

// residue is a claim: whose, and at which beat of the mark it was renewed.
type residue struct {
	number   int
	redlockd string
	beat     int64
}

func residuesString(all []residue) string {
	parts := make([]string, len(all))
	for i, r := range all {
		parts[i] = strconv.Itoa(r.number) + ":" + r.redlockd + ":" + decimal(r.beat)
	}
	return cmp.Or(strings.Join(parts, ","), "-")
}

func parseResidues(text string) ([]residue, error) {
	if text == "-" {
		return nil, nil
	}
	var out []residue
	for part := range strings.SplitSeq(text, ",") {
		f := strings.Split(part, ":")
		if len(f) != 3 {
			return nil, ErrNotAMark
		}
		n, err := strconv.Atoi(f[0])
		beat, err2 := strconv.ParseInt(f[2], 10, 64)
		if err != nil || err2 != nil || n < 1 || n >= Residues {
			return nil, ErrNotAMark
		}
		out = append(out, residue{number: n, redlockd: f[1], beat: beat})
	}
	return out, nil
}

// residueOf returns what a redlockd has claimed, or 0.
func (m *Mark) residueOf(redlockd string) int {
	for _, r := range m.residues {
		if r.redlockd == redlockd {
			return r.number
		}
	}
	return 0
}

// claim renews the claim of a redlockd, or makes one where a residue is free,
// and forgets the claims of those that are gone.
func (m *Mark) claim(redlockd string) {
	m.residues = slices.DeleteFunc(m.residues, func(r residue) bool {
		return r.redlockd != redlockd && m.Beat-r.beat > claimBeats
	})
	free := 0
	for n := Residues - 1; n > 0; n-- {
		if !slices.ContainsFunc(m.residues, func(r residue) bool { return r.number == n }) {
			free = n
		}
	}
	for i := range m.residues {
		if r := &m.residues[i]; r.redlockd == redlockd {
			if m.Beat-r.beat >= claimRenew {
				r.beat = m.Beat
			}
			return
		}
	}
	if free > 0 {
		m.residues = append(m.residues, residue{number: free, redlockd: redlockd, beat: m.Beat})
	}
}
