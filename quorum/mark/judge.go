package mark

import (
	"cmp"
	"fmt"
	"time"
)

// Judge decides what a master may do (M3, M4). It is a pure function.
func Judge(s Observation, m Memory, r Rules) Judgement {
	switch mk := s.Mark; {
	case s.Server.tooOld():
		return Judgement{State: Refused, Reason: "is Redis " + s.Server.Version + ", 6.2 or newer is needed"}
	case s.Foreign:
		return Judgement{State: Refused, Reason: errNotAMark.Error()}
	case s.Server.Replica:
		return Judgement{State: Quarantine, Reason: "is a replica", Left: r.Wait, Unfit: true}
	case mk == nil:
		why := whyNew
		if m.ID != "" {
			why = WhyForgotten
		}
		return r.begin(s, why)
	case mk.Name != r.Name && mk.RunID == s.Server.RunID:
		return Judgement{State: Refused, Reason: fmt.Sprintf("bears the mark of master %q", mk.Name)}
	case !mk.Counts(r.List) && !r.Outlived && (r.Known.Less(mk.Generation) || mk.Real && mk.RunID == s.Server.RunID):
		return r.otherList(mk)
	case r.Yields && mk.Name == r.Name:
		// Otherwise its quarantine under a list that counts would begin anew each time.
		return r.otherList(mk)
	case mk.Name == r.Name && r.Outlived:
		return r.begin(s, whyOutlived)
	case mk.Name != r.Name || !mk.Counts(r.List):
		return r.begin(s, whyRestarted)
	case mk.RunID != s.Server.RunID:
		return r.restarted(s, m)
	case m.Lost == mk.ID, m.NewerThan(mk), mk.before(r.Own, 2):
		return r.begin(s, WhyForgotten)
	case mk.Real && !r.seated(mk):
		return r.unseated(s)
	default:
		return r.marked(s, m)
	}
}

// seated reports whether the mark's server has the seat.
func (r *Rules) seated(mk *Mark) bool { return r.Own.Server == mk.ID }

// unseated judges a master with a real mark while another server has its seat, or none
// has. If that other server is not in use any more, this one may take the seat, after a
// quarantine as if it were empty.
func (r *Rules) unseated(s Observation) Judgement {
	switch {
	case r.Own.Epoch == 0:
		return Judgement{State: Quarantine, Reason: whyNotRecorded}
	case r.Own.Server == Vacant:
		return r.begin(s, whyUnwritten)
	case r.Quiet:
		return r.begin(s, whyReplaced)
	default:
		return Judgement{State: Refused, Reason: r.whyNotQuiet()}
	}
}

// whyNotQuiet distinguishes two servers under one name, which an operator must end, from
// a server that restarted and waits until the other masters have been looked at.
func (r *Rules) whyNotQuiet() string {
	if r.SeatInUse {
		return WhyOtherServer
	}
	return WhyMayBeOther
}

// otherList refuses a master whose mark is of a list that is not ours.
func (r *Rules) otherList(mk *Mark) Judgement {
	return Judgement{State: Refused,
		Reason: fmt.Sprintf("bears the mark of another list of masters, generation %d", mk.Number)}
}

// begin makes the mark pending, with the whole quarantine still to come.
func (r *Rules) begin(s Observation, why string) Judgement {
	fresh := &Mark{ID: NewID(), Name: r.Name, RunID: s.Server.RunID,
		Generation: r.latest(s), Greatest: r.Greatest, Seen: s.Reading, Why: why,
		Seats: r.Seats, Settings: r.Settings, Floor: cmp.Or(r.Floor, r.NewFloor)}
	if !fresh.Counts(r.List) {
		j := r.otherList(fresh)
		j.Write = fresh
		return j
	}
	after := *r
	if s.Mark != nil && s.Mark.RunID == s.Server.RunID && s.Mark.ID == r.Own.Server {
		after.Own.Server = fresh.ID // which gets the seat at once: no other server can use the old mark (M9)
	}
	return after.stateOf(Judgement{Write: fresh})
}

// restarted judges a master whose mark has another run_id: it came back with its data, or
// with the data of some earlier time. If its clock stepped meanwhile, that has ended
// locks that are missing from its data.
func (r *Rules) restarted(s Observation, m Memory) Judgement {
	mk := s.Mark
	fit := !m.Unfit && (s.Server.evicts == "" || r.AllowEviction)
	if !fit || m.Stepped || !mk.Real || !s.Server.Durable {
		return r.begin(s, whyRestarted)
	}
	switch r.Exempt {
	case ExemptAlone:
		mk = mk.With(func(c *Mark) { c.GrantLimit = 0 })
		fallthrough
	case IsExempt:
		return r.stateOf(Judgement{Write: r.refreshed(mk, m, s).With(func(c *Mark) { c.RunID = s.Server.RunID })})
	case ExemptAsked:
		return Judgement{State: Quarantine, Reason: whyAsked}
	default:
		return r.begin(s, whyRestarted)
	}
}

// marked judges a master that has our mark.
func (r *Rules) marked(s Observation, m Memory) Judgement {
	mk := s.Mark
	if s.Server.evicts != "" && !r.AllowEviction {
		return r.evicting(s)
	}
	switch {
	case m.Unfit && !m.OtherServer && mk.Real:
		return r.begin(s, whyUnfit)
	case m.Stepped:
		return r.begin(s, WhyClock)
	case !mk.Real:
		return r.pending(s, m)
	default:
		return r.voting(s, m)
	}
}

// evicting keeps a master that may evict locks in quarantine, which begins anew.
func (r *Rules) evicting(s Observation) Judgement {
	j := r.begin(s, whyUnfit)
	if !s.Mark.Real {
		j.Write = s.Mark.With(func(c *Mark) { c.Watched, c.Seen = 0, s.Reading })
	}
	j.State, j.Left, j.Unfit = Quarantine, r.Wait, true
	j.Reason = "may evict locks (maxmemory-policy " + s.Server.evicts + ")"
	return j
}

// pending counts the time of a quarantine, and ends it. Time counts only from when the
// server is known to have the seat: until then another server may be in use.
func (r *Rules) pending(s Observation, m Memory) Judgement {
	watched := r.refreshed(s.Mark, m, s).With(func(c *Mark) {
		if r.seated(c) && r.SeatRecorded {
			c.Watched += min(s.Mark.gained(s.Reading), max(0, time.Duration(s.Reading-r.CountsFrom)*time.Millisecond))
		}
		c.Doubt = max(0, c.Doubt-s.Mark.gained(s.Reading))
		c.Seen = s.Reading
	})
	over := !r.FirstSeen && watched.Watched >= r.Wait && !r.Foreign && r.seated(watched) && r.SeatRecorded && (r.Remembered || r.InView)
	if over {
		watched = watched.With(func(c *Mark) {
			c.Real, c.Why, c.Floor = true, "", cmp.Or(r.Floor, c.Floor)
			c.Greatest, c.GrantLimit = max(c.Greatest, r.Greatest), c.Floor
			r.setGrantLimit(c)
			c.Seats = c.Seats.renewed(r.Forgotten, firstEpoch(0, c.Number, s.Reading))
		})
	}
	return r.stateOf(Judgement{Write: watched})
}

// voting judges a master that votes, and writes its mark if anything in it is to be
// raised. While others may be about to record a step in it, it is written at each look, since
// whether they can shows only so (M5); its beat is not raised by that, so that a later one of
// the others' stays one (M4).
func (r *Rules) voting(s Observation, m Memory) Judgement {
	fresh := r.refreshed(s.Mark, m, s)
	j := r.stateUnder(Judgement{Open: true}, fresh)
	if m.BeatDue || r.WarmingUp > 0 || fresh.String() != s.Raw {
		j.Write = fresh
	}
	return j
}

// refreshed returns the mark with everything raised that is due. What is due by time
// waits for the next beat, so that marks are written once a second. Later seats are left
// out: they are written to each mark, whatever the judgement (cluster's spread).
func (r *Rules) refreshed(mk *Mark, m Memory, s Observation) *Mark {
	return mk.With(func(c *Mark) {
		c.Greatest = max(c.Greatest, m.Wanted)
		c.Settings = c.Settings.raised(r.Settings)
		r.setGrantLimit(c)
		switch {
		case m.Doubt > 0:
			c.Doubt, c.Seen = max(c.Doubt, m.Doubt), s.Reading
		case m.clears:
			c.Doubt = 0
		case c.Doubt > 0 && c.Real && m.BeatDue:
			c.Doubt, c.Seen = r.doubtLeft(mk, s.Reading), s.Reading
		}
		if m.BeatDue {
			c.Beat++
			c.Seats = c.Seats.beats(r.Seats)
			if c.Phase == Final {
				c.Seats = c.Seats.on(c.Masters)
			}
		}
		// A beat that this mark lacks, because the redlockd that raises this mark's beat
		// does not see it: while such beats come, their server is in use (M9). If each
		// look comes right after a new beat, none lasts long enough, but then they get
		// two ahead (M4).
		c.Seats = c.Seats.beats(r.LastingSeats)
		c.Seats = c.Seats.beats(c.Seats.overdue(r.Seats))
	})
}
