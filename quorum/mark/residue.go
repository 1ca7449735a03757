package mark

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An attempt's name is its token and its expiry (V6). So that no two redlockd ever use
// the same name on one master, nor take each other's grants for their own (V15), each
// redlockd's expiries have their own residues mod Residues: one for copies that it has
// created, and one for copies that it has prolonged, which are never rolled back. The
// first is claimed in database 0's mark, and a claim lasts as long as its redlockd renews
// it.

const (
	// A claim is renewed after claimRenew beats of the mark, and is free for others after
	// claimBeats. A beat takes a second or more, except that a redlockd that looks late
	// raises it at once: the 31 that can have a residue raise it at most 20 times a
	// second, so claimBeats take longer than claimTrust. A redlockd that has not seen its
	// own claim for claimTrust, by its own clock, creates nothing there.
	claimRenew = 20
	claimBeats = 120
	claimTrust = 5 * time.Second
)

// Residues is the number of classes of expiries, by their remainder. A residue below Makers
// is of a copy that one redlockd has created: the one that claims it, 1 or more. The same
// plus Makers is of a copy that this redlockd has prolonged, healed or stored over. Nobody
// claims 0, and Makers is for a redlockd without a claim.
const (
	Makers   = 32
	Residues = 2 * Makers
)

// SameGrant reports whether a copy's expiry is one that a grant may have set on the master
// which also may have set given: the copy may have been created or prolonged by it. It
// never is if who granted had no claim.
func SameGrant(expiry, given int64) bool {
	return expiry <= given && expiry > given-Residues && given%Makers > 0 && expiry%Makers == given%Makers
}

// residue is a claim: the residue, its redlockd, and the beat of the mark at which it was
// renewed.
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
		if err != nil || err2 != nil || n < 1 || n >= Makers {
			return nil, ErrNotAMark
		}
		out = append(out, residue{number: n, redlockd: f[1], beat: beat})
	}
	return out, nil
}

// residueOf returns the residue that a redlockd has claimed, or 0.
func (m *Mark) residueOf(redlockd string) int {
	for _, r := range m.residues {
		if r.redlockd == redlockd {
			return r.number
		}
	}
	return 0
}

// keepClaims takes over the claims of the mark that this one replaces, if there was one, so
// that what their redlockd have granted on the master is still known to be theirs (V15).
func (m *Mark) keepClaims(before *Mark) {
	if before == nil || before.Name != m.Name {
		return
	}
	for _, r := range before.residues {
		if age := before.Beat - r.beat; age <= claimBeats {
			m.residues = append(m.residues, residue{number: r.number, redlockd: r.redlockd, beat: m.Beat - age})
		}
	}
}

// claim renews the claim of a redlockd, or makes one if a residue is free, and drops the
// claims of redlockd that are gone.
func (m *Mark) claim(redlockd string) {
	m.residues = slices.DeleteFunc(m.residues, func(r residue) bool {
		return r.redlockd != redlockd && m.Beat-r.beat > claimBeats
	})
	free := 0
	for n := Makers - 1; n > 0; n-- {
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

// Claim returns the residue by which this redlockd names its attempts on the master at
// now (V6); false while it has no claim that it can trust.
func (v *View) Claim(now time.Duration) (int64, bool) {
	return int64(v.claimed), v.claimed > 0 && now-v.claimSeen <= claimTrust
}

// Claimed returns the residue that this redlockd claimed last, or 0.
func (v *View) Claimed() int64 { return int64(v.claimed) }

// MayBeOthers reports whether a residue that this redlockd, which is named, once claimed
// may be another one's at now (V15).
func (v *View) MayBeOthers(number int64, redlockd string, now time.Duration) bool {
	others := func(r residue) bool { return int64(r.number) == number && r.redlockd != redlockd }
	return !v.KnowsClaims(now) || slices.ContainsFunc(v.claims, others)
}

// KnowsClaims reports whether it is known whose each residue is at now.
func (v *View) KnowsClaims(now time.Duration) bool { return now-v.claimsSeen <= claimTrust }
