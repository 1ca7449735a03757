package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// The residues of expiries, which tell what each redlockd has made, are claimed in database
// 0's marks (V6, mark/residue.go).

// residue returns the residue by which this redlockd names its attempts on the master at
// now; false while it has no claim that it can trust. The caller must hold mu.
func (l *Link) residue(now time.Duration) (int64, bool) {
	if l.Embedded {
		return 1, true
	}
	if l.zero != nil {
		l.zero.mu.Lock()
		defer l.zero.mu.Unlock()
		return l.zero.residue(now)
	}
	return l.view.Claim(now)
}

// Maker returns the residue that this redlockd claimed last on the master; false if it has
// claimed none. Whether it is still its own must be asked when the task goes out.
func (l *Link) Maker() (int64, bool) {
	if l.zero != nil {
		return l.zero.Maker()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.view.Claimed()
	return n, n > 0
}

// prolongsTo returns the residue of copies that this redlockd prolongs on the master at now.
// The caller must hold mu.
func (l *Link) prolongsTo(now time.Duration) int64 {
	own, ok := l.residue(now)
	if !ok {
		own = 0
	}
	return mark.Makers + own
}

// mayBeOthers reports whether a residue that this redlockd once claimed may be another
// one's at now. The caller must hold mu.
func (l *Link) mayBeOthers(residue int64, now time.Duration) bool {
	if l.Embedded {
		return false
	}
	if l.zero != nil {
		l.zero.mu.Lock()
		defer l.zero.mu.Unlock()
		return l.zero.mayBeOthers(residue, now)
	}
	return l.view.MayBeOthers(residue, l.db.name, now)
}

// knowsClaims reports whether it is known whose each residue is at now. The caller must hold
// mu.
func (l *Link) knowsClaims(now time.Duration) bool {
	if l.Embedded {
		return true
	}
	if l.zero != nil {
		l.zero.mu.Lock()
		defer l.zero.mu.Unlock()
		return l.zero.knowsClaims(now)
	}
	return l.view.KnowsClaims(now)
}
