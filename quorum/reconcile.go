package quorum

import (
	"cmp"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/redlockd/redlockd/quorum/clock"
)

// reconcile judges what was seen and carries the judgement out: it writes the
// mark, opens or closes the link, and says so. It is called by the monitor
// only.
func (mon *monitor) reconcile(c *connection, s observation) error {
	if mon.embedded {
		mon.enter(c, judgement{open: true, state: Voting})
		return nil
	}
	if mon.zero != nil && mon.zero.isElsewhere(c) {
		return errElsewhere
	}
	cause := mon.db.causeOf(mon.link)
	switch cause {
	case unclearStep:
		mon.wakeMonitor()
		return nil // the next look tells, soon
	case ownPause:
		mon.db.stoodStill(mon.link)
		return nil
	}
	if err := mon.meet(c, s); err != nil {
		return err
	}
	warmingUp := mon.warmingUp(s)
	s, err := mon.raiseGeneration(c, s)
	if err != nil {
		return err
	}
	var j judgement
	for try := 0; ; try++ {
		mon.see(s, cause == noStep)
		mon.takeSeat(s)
		if s, err = mon.spread(c, s); err != nil {
			return err
		}
		m, r := mon.rules(c, s)
		m.stepped, r.warmingUp = cause == masterStep, warmingUp
		j = judge(s, m, r)
		if j.write == nil {
			break
		}
		done, err := mon.write(c, s, j.write)
		if broken(err) {
			return err
		}
		if err != nil {
			mon.vacate(s, j.write)
			j = judgement{state: Refused, reason: "its mark cannot be written: " + reasonOf(err)}
			break
		}
		if done {
			mon.replaced(s, m, j.write)
			s.raw, s.mark = j.write.String(), j.write
			break
		}
		if try == markTries {
			return nil // others write it all the time; the next look tells
		}
		if s, err = mon.look(c); err != nil {
			return err
		}
	}
	if s.mark != nil && s.unlisted(mon.db.number) {
		// Database 0 has lost its mark since; the next look tells if this
		// could be written.
		if _, err := mon.list(c, s, s.mark); broken(err) {
			return err
		}
	}
	mon.mu.Lock()
	mon.clock.Judged(warmingUp == 0, cause == masterStep && j.write != nil && s.mark == j.write)
	mon.view.memory.unfit = j.unfit
	mk := s.mark
	if mon.zero != nil {
		mk = s.zero
	}
	mon.view.stand(s, mk, j)
	if s.mark != nil && s.mark.name == mon.name {
		mon.view.bears, mon.view.bearsForReal = s.mark.generation, s.mark.real
		mon.db.list().saw(mon.view.bears)
	}
	if s.mark != nil && j.open {
		mon.learn(s.mark, s.raw, s.sent)
	}
	mon.status.Version, mon.status.RunID = s.server.told, s.server.runID
	mon.mu.Unlock()
	mon.enter(c, j)
	return nil
}

// rules is what the master is judged by now.
func (mon *monitor) rules(c *connection, s observation) (memory, rules) {
	exempt := mon.exemption(c, s)
	own, unheard := mon.db.agreed.of(mon.hash)
	quiet, borne, all := mon.quiet(own, unheard), mon.borneHere(own, s), mon.seats()
	unsaid := mon.db.agreed.lasting(all, clock.LookEvery/2)
	mon.db.agreed.raiseLeast(mon.db.list().names(), mon.db.list().quorum, expirySpread+nameSlack+mon.cfg.lookSlack())
	g, inView, floor, told, sure := mon.grantedBefore(s), mon.inView(), time.Duration(0), time.Duration(0), false
	if mon.zero == nil {
		floor = mon.cfg.floor()
		told, sure = mon.db.telling(mon.link)
		g.greatest = max(g.greatest, mon.db.agreed.everGranted())
	}
	list, known := mon.db.list().name, mon.db.change.known()
	yields := s.mark != nil && !s.mark.counts(list) && !mon.db.change.borne(known) && mon.db.change.inUse(s.mark.masters)
	foreign := mon.db.change.foreign(list, known)
	mon.mu.Lock()
	defer mon.mu.Unlock()
	m := mon.view.memory
	now := mon.now()
	m.beatDue = now-m.beatSeen >= clock.LookEvery
	if now >= m.grantedUntil {
		m.granted = 0
	}
	return m, rules{seats: all, unsaid: unsaid, own: own, settings: mon.db.agreed.greatest(), redlockd: mon.db.name,
		quiet: quiet, borne: borne, heard: mon.view.heardOther(now - unheard), silent: mon.db.silentFor(now) > 0, exempt: exempt, name: mon.name, list: list, known: known, yields: yields, foreign: foreign, bore: mon.view.bears, db: mon.db.number, greatest: g.greatest, wait: g.wait,
		remembered: g.remembered, inView: inView, floor: floor, told: told, sure: sure,
		allowEviction: mon.master.AllowEviction, quarantine: mon.cfg.RestartQuarantine}
}

// grantedBefore is what the marks of the others tell of the locks that the master
// may have forgotten: those that were looked at since it has a pending mark. One
// that is to get such a mark now ends no quarantine by that, and people are told how
// long it will be: what was seen just before will do.
func (mon *monitor) grantedBefore(s observation) granted {
	mon.mu.Lock()
	since := mon.view.pending
	mon.mu.Unlock()
	switch {
	case s.mark == nil || s.mark.real:
		since = mon.now() - 2*clock.LookEvery
	case since == 0:
		since = mon.now()
	}
	return mon.db.holdSince(mon.link, since)
}

// raiseGeneration raises the mark where it lags behind the state of the list
// of masters that is being written (M8): in all databases of the master, since
// not all of them need be open here.
func (mon *monitor) raiseGeneration(c *connection, s observation) (observation, error) {
	to := mon.db.change.target()
	if s.mark == nil || s.mark.name != mon.name || !s.mark.lags(to) {
		return s, nil
	}
	args := []string{itoa(int64(mon.db.number)), itoa(int64(to.number)), itoa(int64(to.phase)), to.masters, cmp.Or(to.before, "-")}
	err := mon.asks(c, c.client.B().Eval().Script(generationScript.text).Numkeys(1).Key(MarkKey).Arg(args...).Build())[0].Error()
	if err != nil {
		if broken(err) {
			return s, err
		}
		mon.log.Debug("a master answered an error", "code", reasonOf(err))
		return s, nil
	}
	return mon.look(c)
}

// write puts a mark where the one that was seen still is. The first mark of a
// database other than 0 is written together with its listing in 0's mark.
func (mon *monitor) write(c *connection, s observation, m *mark) (bool, error) {
	if s.mark == nil && mon.db.number != 0 {
		return mon.list(c, s, m)
	}
	n, err := mon.asks(c, c.client.B().Eval().Script(markScript.text).Numkeys(1).Key(MarkKey).
		Arg(s.raw, m.String()).Build())[0].AsInt64()
	return n == 1, err
}

// list lists a database in 0's mark, and gives it a mark if it has none.
func (mon *monitor) list(c *connection, s observation, m *mark) (bool, error) {
	listed := s.zeroRaw
	if s.unlisted(mon.db.number) {
		listed = s.zero.with(func(c *mark) { c.dbs = append(c.dbs, mon.db.number) }).String()
	}
	n, err := mon.asks(c, c.client.B().Eval().Script(listScript.text).Numkeys(1).Key(MarkKey).
		Arg(itoa(int64(mon.db.number)), s.zeroRaw, listed, m.String()).Build())[0].AsInt64()
	return n == 1, err
}

// syncsAlways asks for appendfsync, which INFO does not tell. Without the
// right to ask, the answer is no.
func (mon *monitor) syncsAlways(c *connection) bool {
	r := mon.asks(c, c.client.B().ConfigGet().Parameter("appendfsync").Build())[0]
	values, err := r.AsStrMap()
	return err == nil && values["appendfsync"] == "always"
}

// tellState logs a change of state (docs/operations.md). One that is down from the
// start has lost no connection, but nobody else would name it: the others are
// ready without it. While one is down the reasons of the network change all the
// time; what it says itself is news, and so are two servers under one name.
func tellState(log hclog.Logger, ev *events, was MasterState, why string, j judgement) {
	switch {
	case j.state == Voting:
		log.Info("master may vote")
	case j.reason == whyWarmingUp:
		log.Info("master will vote after its clock has been watched for a while", "wait", j.left.String())
	case j.state == Down && was == Down && why != "" && !j.said:
		log.Debug("master is down", "reason", j.reason)
	case j.state == Down:
		if was != Down {
			ev.lostConnections.Add(1)
		}
		log.Warn("master is down", "reason", j.reason)
	case j.state == was && !strings.HasSuffix(j.reason, whyOtherServer):
		log.Debug("master may not vote", "state", string(j.state), "reason", j.reason)
	default:
		if j.state == Quarantine && was != Quarantine {
			ev.quarantines.Add(1)
		}
		log.Warn("master may not vote", "state", string(j.state), "reason", j.reason, "wait", j.left.String())
	}
}
