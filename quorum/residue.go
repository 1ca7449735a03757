package quorum

import (
	"cmp"
	"time"
)

// residue is the remainder of the expiries of what this redlockd creates on the
// master (V6), and whether it has one. Needs mu.
func (l *lane) residue(time.Duration) (int64, bool) { return cmp.Or(l.cfg.residue, 1), true }
