package replies

// What a command does besides its reply (Slot.After) is done in the order of the commands,
// as on one Redis: a list that a script fills is seen by the commands behind it and not by
// those before it, in whatever order their outcomes arrive. It does not wait for the
// client to read, and is done for a client that has gone, too.

// AwaitOutcomes waits until the outcomes of all queued commands have arrived and what
// these do besides their replies is done, or the pipeline was aborted.
func (p *Pipeline) AwaitOutcomes() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.aborted && p.unsettled != nil {
		p.changed.Wait()
	}
}

// settleLocked calls After of each slot of which all outcomes, and those of all slots
// before it, have arrived. It unlocks the mutex meanwhile; only one goroutine does that at
// a time.
func (p *Pipeline) settleLocked() {
	for !p.settling && p.unsettled != nil {
		sl := p.unsettled
		if !sl.arrived() {
			return
		}
		if sl.After != nil {
			p.settling = true
			p.mu.Unlock()
			sl.After(sl.outcomes)
			p.mu.Lock()
			p.settling = false
			sl.waiting--
		}
		p.unsettled = sl.next
	}
	if p.unsettled == nil {
		p.changed.Broadcast()
	}
}

// arrived reports whether all outcomes of a slot have arrived, before its After was called.
func (sl *Slot) arrived() bool {
	return sl.waiting == 0 || sl.waiting == 1 && sl.After != nil
}
