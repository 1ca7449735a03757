package cluster

import "github.com/redlockd/redlockd/quorum/mark"

// served is the server that a monitor has last judged. id is its mark's, named the run_id that
// the mark names.
type served struct {
	runID, id, named string
	replica          bool
}

func servedBy(s mark.Observation) served {
	out := served{runID: s.Server.RunID, replica: s.Server.Replica}
	if s.Mark != nil {
		out.id, out.named = s.Mark.ID, s.Mark.RunID
	}
	return out
}

// another reports whether other is a server of its own, to which a wrong address led, and not
// this one after a restart: that keeps its mark, or has none, and is not a replica.
func (s *served) another(other served) bool {
	return s.runID != "" && s.runID != other.runID && (other.id != "" && s.id != other.id || s.replica || other.replica)
}

// beside reports whether the server with this run_id was running beside this one: the mark,
// which was copied, named it already.
func (s *served) beside(runID string) bool { return s.runID != runID && s.named == runID }
