package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// bootstrapTries is how often Bootstrap tries to write one mark that other instances
// change meanwhile.
const bootstrapTries = 10

// Bootstrap writes real marks to the masters of a new cluster and returns (M6). If any
// master is unreachable, unfit or already has a real mark, it writes nothing and returns
// all reasons. It ends every quarantine, so call it only when no lock can be held.
func Bootstrap(ctx context.Context, cfg Config, log hclog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	d := &Database{cfg: &cfg, now: clock.System(), stalls: &clock.StallDetector{}}
	d.agreed = mark.NewAgreement(cfg.Settings(), d.now)
	list := d.newList(cfg.Masters)
	d.masters.Store(list)
	var errs []error
	connections := make([]*connection, len(cfg.Masters))
	sights := make([]mark.Observation, len(cfg.Masters))
	for i, m := range cfg.Masters {
		l := newLink(ctx, &cfg, m, d, d.now, log, newEvents())
		c := newConnection(m)
		defer c.close()
		stop := context.AfterFunc(ctx, c.close)
		defer stop()
		err := c.dial(0)
		if err == nil {
			sights[i], err = (&monitor{Link: l}).greet(c)
		}
		if err == nil {
			err = mayBootstrap(sights[i])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("master %q at %s: %w", m.Name, m.Address, err))
		}
		connections[i] = c
		list.Links = append(list.Links, l)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	marks := d.firstMarks(sights)
	for i, l := range list.Links {
		if err := markReal(&monitor{Link: l}, connections[i], sights[i], marks[i]); err != nil {
			return fmt.Errorf("master %q at %s: %w", l.Name, l.master.Address, err)
		}
		log.Info("master may vote", "master", l.Name, "address", l.master.Address)
	}
	return nil
}

func mayBootstrap(s mark.Observation) error {
	if s.Mark != nil && s.Mark.Real {
		return fmt.Errorf("already has the mark of master %q: this is not a new cluster", s.Mark.Name)
	}
	s.Mark = nil // a pending one is written over
	if j := mark.Judge(s, mark.Memory{}, mark.Rules{}); j.Write == nil {
		return errors.New(j.Reason)
	}
	return nil
}

// firstMarks returns the marks of a new cluster. Each master keeps the id of a pending
// mark that it already has, and every mark records all seats (M9).
func (d *Database) firstMarks(sights []mark.Observation) []*mark.Mark {
	list := d.List()
	marks := make([]*mark.Mark, len(sights))
	for i, s := range sights {
		l := list.Links[i]
		marks[i] = &mark.Mark{Real: true, ID: mark.NewID(), Name: l.Name, RunID: s.Server.RunID,
			Generation: mark.FirstGeneration(list.name), Seen: s.Reading, Settings: d.cfg.Settings()}
		if s.Mark != nil {
			marks[i].ID = s.Mark.ID
			d.agreed.Saw(s.Mark)
		}
	}
	for i, l := range list.Links {
		d.agreed.Begin(l.hash, marks[i].ID, sights[i].Reading)
	}
	for _, m := range marks {
		m.Settings, m.Floor = d.agreed.Greatest(), d.newFloor()
		m.GrantLimit = m.Floor
		m.Least = m.Padding() // there are no locks yet
		// A redlockd that still runs may have granted locks: record its greatest hold
		// (mark.Memory.NewerThan).
		m.Greatest = d.agreed.EverGranted()
		m.Seats = d.agreed.All(func(string) bool { return true })
	}
	return marks
}

// markReal writes a mark if the mark that was seen is still there. A running redlockd
// raises the beat of a pending mark about once a second (M4). If that happened in
// between, markReal looks again and writes over the same mark. The beat goes on from there: one
// that went back would tell of an earlier time. So do the databases, which have their seals.
func markReal(mon *monitor, c *connection, s mark.Observation, m *mark.Mark) error {
	for range bootstrapTries {
		if s.Mark != nil {
			m.Beat, m.DBs = s.Mark.Beat, s.Mark.DBs
		}
		if done, err := mon.write(c, s, m, 0); err != nil || done {
			return err
		}
		var err error
		if s, err = mon.greet(c); err != nil {
			return err
		}
		// A running redlockd may have ended its quarantine by the marks that are real already.
		if s.Mark != nil && s.Mark.Real && s.Mark.ID == m.ID && s.Mark.Generation == m.Generation {
			return nil
		}
		if err = mayBootstrap(s); err != nil {
			return err
		}
		if s.Mark == nil || s.Mark.ID != m.ID {
			break
		}
	}
	return errors.New("its mark was changed concurrently, try again")
}
