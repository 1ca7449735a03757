package cluster

import (
	"strconv"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// reconcile judges an observation and carries the judgement out: it writes the mark, opens or
// closes the link, and logs a change. Another database than 0 follows. Only the monitor calls it.
func (mon *monitor) reconcile(c *connection, s mark.Observation) error {
	if mon.Embedded {
		mon.enter(c, mark.Judgement{Open: true, State: mark.Voting})
		return nil
	}
	if mon.zero != nil {
		return mon.follow(c, s)
	}
	cause := mon.db.handleStep(mon.Link)
	switch cause {
	case unclearStep:
		mon.wakeMonitor()
		return nil // the next look, which comes soon, shows the cause
	case ownPause:
		return nil
	}
	warmingUp := mon.warmingUp(s)
	s, err := mon.raiseGeneration(c, s)
	if err != nil {
		return err
	}
	var m mark.Memory
	var j mark.Judgement
	for try := 0; ; try++ {
		mon.noteObservation(s)
		mon.takeSeat(s)
		if s, err = mon.spread(c, s); err != nil {
			return err
		}
		var r mark.Rules
		m, r = mon.rules(c, s)
		m.Stepped, r.WarmingUp = cause == masterStep, warmingUp
		j = mark.Judge(s, m, r)
		if j.Write == nil {
			if s.Server.Replica {
				mon.vacate(s, &mark.Mark{}) // nothing can be written on a replica
			}
			break
		}
		until := time.Duration(0)
		if s.Mark != nil && j.Write.Real && !s.Mark.Real {
			// It goes by what was in view. Later, another server may have got a seat (M9).
			until = s.Sent + 2*clock.LookEvery
		}
		done, err := mon.write(c, s, j.Write, until)
		if broken(err) {
			return err
		}
		if err != nil {
			mon.vacate(s, j.Write)
			mon.couldNotWrite(s)
			j = mark.Judgement{State: mark.Refused, Reason: "its mark cannot be written: " + reasonOf(err)}
			break
		}
		if done {
			mon.replaced(s, m, j.Write)
			s.Raw, s.Mark = j.Write.String(), j.Write
			break
		}
		if try == markTries {
			return nil // other instances write it all the time; the next look will do
		}
		if s, err = mon.look(c); err != nil {
			return err
		}
	}
	mon.mu.Lock()
	written := j.Write != nil && s.Mark == j.Write
	mon.clock.Judged(warmingUp == 0, cause == masterStep && written)
	settled := written || j.Open && j.Write == nil // there is nothing to write
	mon.view.Memory.Unfit, mon.judged = j.Unfit || m.Unfit && !settled, s
	mon.view.Stand(s, j, m.Doubt)
	if s.Mark != nil && s.Mark.Name == mon.Name {
		mon.view.SawList(s.Mark, s.Sent, mon.now())
		mon.db.List().Saw(mon.view.Recorded.Generation)
	}
	if s.Mark != nil && j.Open {
		mon.learn(s.Mark, s.Raw, s.Sent)
	}
	if s.Foreign {
		mon.view.Memory.Lost = mon.view.Memory.ID
	}
	mon.status.Version, mon.status.RunID = s.Server.OwnVersion, s.Server.RunID
	mon.mu.Unlock()
	mon.enter(c, j)
	return nil
}

// rules returns what the master is judged by now.
func (mon *monitor) rules(c *connection, s mark.Observation) (mark.Memory, mark.Rules) {
	exempt := mon.exemption(c, s)
	own, unchanged := mon.db.agreed.Of(mon.hash)
	quiet, seatRecorded, all := mon.quiet(own, unchanged), hasSeat(own, s) && mon.othersRecord(own), mon.seats()
	lasting, mostDoubt := mon.db.agreed.Lasting(all, clock.LookEvery/2), mon.mostDoubt()
	mon.db.jumpedBefore()
	settings := mon.settings()
	g, firstSeen := mon.grantedBefore(s)
	inView := mon.othersLookedAt(mon.now()-2*clock.LookEvery, false)
	limit, floor, mayTakeOver := mon.db.grantLimit(mon.Link)
	g.greatest = max(g.greatest, mon.db.agreed.EverGranted())
	list, known := mon.db.List().name, mon.db.change.known()
	yields := s.Mark != nil && !s.Mark.Counts(list) && mon.db.change.yields(known, s.Mark.Generation)
	outlived := mon.outlived(own, s, known)
	foreign := mon.db.change.foreign(list, known)
	var forgotten []string
	if s.Mark != nil && !s.Mark.Real {
		forgotten = mon.forgotten()
	}
	mon.mu.Lock()
	defer mon.mu.Unlock()
	m := mon.view.Memory
	m.OtherServer = mon.judged.Beside(s.Server.RunID)
	now := mon.now()
	countsFrom := int64(0)
	if seatRecorded {
		var latest int64
		if _, latest, seatRecorded = mon.clock.Shows(now); seatRecorded {
			countsFrom = mon.view.CountsFrom(own, latest, s.Reading)
		}
	}
	m.BeatDue = now-m.BeatSeen >= clock.LookEvery
	if now >= m.GrantedUntil {
		m.Granted = 0
	}
	return m, mark.Rules{Forgotten: forgotten, Seats: all, LastingSeats: lasting, Own: own, Settings: settings,
		Quiet: quiet, SeatRecorded: seatRecorded, CountsFrom: countsFrom, SeatInUse: mon.view.BeatOfOther(now - unchanged), MostDoubt: mostDoubt, Silent: mon.db.silentFor(now) > 0, Exempt: exempt, Name: mon.Name, List: list, Known: known, Yields: yields, Outlived: outlived, Foreign: foreign, LastRecorded: mon.view.Recorded.Generation, Greatest: g.greatest, Wait: g.wait,
		FirstSeen: firstSeen, Remembered: g.remembered, InView: inView, NewFloor: mon.db.newFloor(), Floor: floor, GrantLimit: limit, MayTakeOver: mayTakeOver, AllowEviction: mon.master.AllowEviction}
}

// grantedBefore returns what the other masters' marks tell of the locks that this master
// may have forgotten. Only marks looked at since its mark became pending count. If the
// mark is yet to become pending, or is first seen to be, recent looks are enough: the result
// ends no quarantine (firstSeen), but shows operators how long this one will be.
func (mon *monitor) grantedBefore(s mark.Observation) (g granted, firstSeen bool) {
	mon.mu.Lock()
	since := mon.view.Pending
	mon.mu.Unlock()
	pending := s.Mark != nil && !s.Mark.Real
	if !pending || since == 0 {
		return mon.db.holdSince(mon.Link, mon.now()-2*clock.LookEvery), pending
	}
	return mon.db.holdSince(mon.Link, since), false
}

// raiseGeneration raises the mark where it lags behind the state of the list of masters
// that is being written (M8).
func (mon *monitor) raiseGeneration(c *connection, s mark.Observation) (mark.Observation, error) {
	to, until := mon.db.change.target()
	if s.Mark == nil || s.Mark.Name != mon.Name || !s.Mark.Lags(to) {
		return s, nil
	}
	if to = mon.db.change.mayWrite(to, until > 0); !s.Mark.Lags(to) || mon.recorded().Generation != s.Mark.Generation {
		return s, nil // it was decided by another state of this mark; the next look may tell
	}
	// It goes by what was in view. Later, masters may have begun anew with the list before.
	end := s.Sent + 2*clock.LookEvery
	if until > 0 {
		end = min(end, until)
	}
	return mon.raise(c, s, end, func(m *mark.Mark) { m.Generation = to })
}

// write replaces the mark if it still is the one that was seen, up to a time by our clock; 0 is
// no limit.
func (mon *monitor) write(c *connection, s mark.Observation, m *mark.Mark, until time.Duration) (bool, error) {
	deadline := int64(0)
	if until > 0 {
		if _, _, known := mon.clock.Shows(mon.now()); !known {
			return false, nil // the next look may tell
		}
		deadline = mon.clock.Earliest(until)
	}
	n, err := mon.eval(c, scripts.Mark, s.Raw, m.String(), strconv.FormatInt(deadline, 10)).AsInt64()
	return n == 1, err
}

// syncsAlways asks for appendfsync, which INFO does not report. Without the right to ask,
// it returns false.
func (mon *monitor) syncsAlways(c *connection) bool {
	r := mon.asks(c, c.dialect.Client.B().ConfigGet().Parameter("appendfsync").Build())[0]
	values, err := r.AsStrMap()
	return err == nil && values["appendfsync"] == "always"
}
