package memory

import "testing"

// S5: an account is charged in steps, evict is called once for each time that more
// is held than may be, and what is closed holds nothing.
func TestS5Accounts(t *testing.T) {
	calls := 0
	pool := NewPool(func() int64 { return 4 * step }, func() { calls++ })
	var a, b Account
	a.Open(pool)
	b.Open(pool)
	part, other := 0, 0
	a.Charge(&part, step-1)
	if pool.Held() != 0 {
		t.Errorf("%d bytes are charged for less than a step", pool.Held())
	}
	a.Charge(&part, 3*step+1)
	b.Charge(&other, step)
	if pool.Over() || calls != 0 || a.Bytes() != 3*step {
		t.Errorf("evict was called %d times at %d bytes", calls, pool.Held())
	}
	b.Charge(&other, 2*step)
	b.Charge(&other, 3*step)
	if !pool.Over() || calls != 1 {
		t.Errorf("evict was called %d times, want once", calls)
	}
	b.Close()
	pool.Evicted()
	b.Charge(&other, 9*step)
	if pool.Held() != 3*step || b.Bytes() != 0 {
		t.Errorf("a closed account holds %d bytes, all hold %d", b.Bytes(), pool.Held())
	}
}
