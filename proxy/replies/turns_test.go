package replies

import "testing"

// Who has much to be written has many turns, so that the others are not kept
// waiting for theirs; what is more than a turn goes out alone.
func TestTurnsAreShort(t *testing.T) {
	p := &Pipeline{}
	for range 40 {
		p.pushLocked(&Slot{Size: 9000})
	}
	p.pushLocked(&Slot{Size: 2 * maxBatchBytes})
	p.pushLocked(&Slot{Size: 1})
	w := &batch{}
	turns, taken := 0, 0
	for p.head != nil {
		p.take(w)
		size := 0
		for _, sl := range w.slots[:len(w.slots)-1] {
			size += sl.Size
		}
		if size >= maxBatchBytes {
			t.Errorf("turn %d: %d bytes and one more", turns, size)
		}
		turns, taken = turns+1, taken+len(w.slots)
	}
	if taken != 42 || turns != 7 {
		t.Errorf("%d replies in %d turns, want 42 in 7", taken, turns)
	}
}
