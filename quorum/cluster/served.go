package cluster

import "github.com/redlockd/redlockd/quorum/mark"

// served is the server that a monitor has last judged.
type served struct {
	runID, id string
	replica   bool
}

func servedBy(s mark.Observation) served {
	out := served{runID: s.Server.RunID, replica: s.Server.Replica}
	if s.Mark != nil {
		out.id = s.Mark.ID
	}
	return out
}

// another reports whether other is a server of its own, to which a wrong address led, and not
// this one after a restart: that keeps its mark, and is not a replica.
func (s *served) another(other served) bool {
	return s.runID != "" && s.runID != other.runID && (s.id != other.id || s.replica || other.replica)
}
