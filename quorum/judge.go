package quorum

import "fmt"

// judge says what a master may do (M3, M4). It is a pure function.
func judge(s observation, m memory, r rules) judgement {
	switch mk := s.mark; {
	case s.server.tooOld():
		return judgement{state: stateRefused, reason: s.server.whyTooOld()}
	case s.foreign:
		return judgement{state: stateRefused, reason: errNotAMark.Error()}
	case s.server.replica:
		return judgement{state: stateQuarantine, reason: "is a replica", left: r.wait, unfit: true}
	case s.zero != nil && s.zero.name == r.name && !s.zero.counts(r.list) && r.known.less(s.zero.generation):
		return r.otherList(s.zero)
	case mk == nil && r.firstUse(s) && !m.sawReal:
		return r.begin(s, "")
	case mk == nil:
		why := whyNew
		if m.sawReal {
			why = whyForgotten
		}
		return r.begin(s, why)
	case mk.db != r.db:
		return judgement{state: stateRefused, reason: fmt.Sprintf("bears the mark of database %d", mk.db)}
	case mk.name != r.name && mk.runID == s.server.runID:
		return judgement{state: stateRefused, reason: fmt.Sprintf("bears the mark of master %q", mk.name)}
	case !mk.counts(r.list) && (r.known.less(mk.generation) || mk.real && mk.runID == s.server.runID):
		return r.otherList(mk)
	case r.yields && mk.name == r.name:
		// Its quarantine under a list that counts would begin anew each time.
		return r.otherList(mk)
	case mk.name != r.name || !mk.counts(r.list):
		return r.begin(s, whyRestarted)
	case mk.runID != s.server.runID:
		return r.restarted(s, m)
	case r.quarantine && m.knowsBetter(mk):
		return r.begin(s, whyForgotten)
	case mk.real && !r.seated(mk):
		return r.unseated(s)
	default:
		return r.marked(s, m)
	}
}

// seated reports whether the mark's server has the seat, as far as that is for
// the mark of this database to say.
func (r *rules) seated(mk *mark) bool { return r.db != 0 || r.own.server == mk.id }

// unseated judges a master whose mark is real while another server has its
// seat, or none. Where that other one is not in use any more it may take the
// seat, after a quarantine like one that is empty.
func (r *rules) unseated(s observation) judgement {
	switch {
	case r.own.epoch == 0:
		return judgement{state: stateQuarantine, reason: whyNotBorne}
	case r.own.server == vacant:
		return r.begin(s, whyUnwritten)
	case r.quiet:
		return r.begin(s, whyReplaced)
	default:
		return judgement{state: stateRefused, reason: r.whyNotQuiet()}
	}
}

// whyNotQuiet tells two servers under one name, which somebody must end, from
// one that restarted and waits for the others to be asked.
func (r *rules) whyNotQuiet() string {
	if r.heard {
		return whyOtherServer
	}
	return whyMayBeOther
}

// otherList refuses a master whose mark is of a list that is not ours.
func (r *rules) otherList(mk *mark) judgement {
	return judgement{state: stateRefused,
		reason: fmt.Sprintf("bears the mark of another list of masters, generation %d", mk.number)}
}

// latest is the state of the list of masters that a new mark bears: no
// earlier one than what is there already, or was before it was lost.
func (r *rules) latest(s observation) generation {
	g := r.known
	if g.less(r.bore) {
		g = r.bore
	}
	for _, mk := range []*mark{s.mark, s.zero} {
		if mk != nil && g.less(mk.generation) && mk.counts(r.list) {
			g = mk.generation
		}
	}
	return g
}

// firstUse reports whether the database has never been used on this master: one
// that is not listed in the real mark of database 0. It needs no quarantine;
// a listed one without a mark has lost it.
func (r *rules) firstUse(s observation) bool {
	return s.zero != nil && s.zero.real && s.zero.runID == s.server.runID &&
		s.zero.name == r.name && s.unlisted(r.db)
}

// begin makes a master's mark pending, with the whole quarantine before it;
// without a reason why the mark is real.
func (r *rules) begin(s observation, why string) judgement {
	fresh := &mark{real: !r.quarantine || why == "", id: newMarkID(), name: r.name, runID: s.server.runID, db: r.db,
		generation: r.latest(s), greatest: r.greatest, seen: s.reading, why: why,
		seats: r.seats, settings: r.settings}
	if r.db == 0 {
		if fresh.real {
			fresh.told = r.floor // a quarantine is not kept
		}
		fresh.claim(r.redlockd)
	}
	if !fresh.counts(r.list) {
		j := r.otherList(fresh)
		j.write = fresh
		return j
	}
	return r.stateOf(judgement{write: fresh})
}

// restarted judges a master whose mark bears another run_id: it came back
// with its memory, or with the memory of some earlier time. What a clock that
// stepped meanwhile has ended is not in that memory any more.
func (r *rules) restarted(s observation, m memory) judgement {
	mk := s.mark
	fit := !m.unfit && (s.server.evicts == "" || r.allowEviction)
	if !fit || m.stepped || !mk.real || !s.server.durable {
		return r.begin(s, whyRestarted)
	}
	switch r.exempt {
	case exemptAlone:
		mk = mk.with(func(c *mark) { c.told = 0 })
		fallthrough
	case isExempt:
		return r.stateOf(judgement{write: r.refreshed(mk, m, s).with(func(c *mark) { c.runID = s.server.runID })})
	case exemptAsked:
		return judgement{state: stateQuarantine, reason: whyAsked}
	default:
		return r.begin(s, whyRestarted)
	}
}

// marked judges a master that bears our mark.
func (r *rules) marked(s observation, m memory) judgement {
	mk := s.mark
	if s.server.evicts != "" && !r.allowEviction {
		return r.evicting(s)
	}
	switch {
	case m.unfit && mk.real && r.quarantine:
		return r.begin(s, whyUnfit)
	case m.stepped:
		return r.begin(s, whyClock)
	case !mk.real:
		return r.pending(s, m)
	default:
		return r.voting(s, m)
	}
}

// evicting keeps a master that may evict locks in quarantine, from its
// beginning.
func (r *rules) evicting(s observation) judgement {
	j := r.begin(s, whyUnfit)
	if !s.mark.real {
		j.write = s.mark.with(func(c *mark) { c.watched, c.seen = 0, s.reading })
	}
	j.state, j.left, j.unfit = stateQuarantine, r.wait, true
	j.reason = "may evict locks (maxmemory-policy " + s.server.evicts + ")"
	return j
}

// pending counts the time of a quarantine, and ends it. It counts only while
// the server has the seat: as long as it has not, another one may be in use.
func (r *rules) pending(s observation, m memory) judgement {
	watched := r.refreshed(s.mark, m, s).with(func(c *mark) {
		if r.seated(c) && r.borne {
			c.watched += s.mark.gained(s.reading)
		}
		c.doubt = max(0, c.doubt-s.mark.gained(s.reading))
		c.seen = s.reading
	})
	over := watched.watched >= r.wait && !r.foreign && r.seated(watched) && r.borne && (r.db != 0 || r.remembered || r.inView)
	if over || !r.quarantine {
		watched = watched.with(func(c *mark) {
			c.real, c.why = true, ""
			c.greatest = max(c.greatest, r.greatest)
			c.told = r.floor
			r.tell(c)
		})
	}
	return r.stateOf(judgement{write: watched})
}

// voting raises what is to be raised.
func (r *rules) voting(s observation, m memory) judgement {
	fresh := r.refreshed(s.mark, m, s)
	j := r.stateUnder(judgement{open: true}, fresh)
	if m.beatDue || fresh.String() != s.raw {
		j.write = fresh
	}
	return j
}

// refreshed is the mark with all in it raised that is to be. Only what is due by
// time waits for the next beat, so that marks are written once a second. A later
// holder of a seat is written to database 0's mark together with all others
// (spread), so it is left out there.
func (r *rules) refreshed(mk *mark, m memory, s observation) *mark {
	return mk.with(func(c *mark) {
		c.greatest = max(c.greatest, m.wanted)
		c.settings = c.settings.greatest(r.settings)
		r.tell(c)
		switch {
		case m.doubt > 0:
			c.doubt, c.seen = max(c.doubt, m.doubt), s.reading
		case m.clears:
			c.doubt = 0
		case c.doubt > 0 && c.real && m.beatDue:
			c.doubt, c.seen = max(0, c.doubt-mk.gained(s.reading)), s.reading
		}
		if m.beatDue {
			c.beat++
			c.seats = c.seats.beats(r.seats)
			c.forgetSeats()
		}
		// A beat that nobody has told on, since who raises this mark's beat does
		// not see it: as long as it is, its server is in use (M9). Where each look
		// comes right after a new one, none lasts, but they get ahead (M4).
		c.seats = c.seats.beats(r.unsaid)
		c.seats = c.seats.beats(c.seats.overdue(r.seats))
		if r.db == 0 {
			c.claim(r.redlockd)
		} else if c.seats.behind(r.seats) {
			c.seats = c.seats.merged(r.seats)
		}
	})
}
