package cluster

import (
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/mark"
)

// news is what a judgement of a master is for the log (docs/operations.md).
type news uint8

const (
	noNews     news = iota
	newsDetail      // for debugging only
	newsVotes       // it may vote
	newsWarmUp      // its clock is being watched, which is no fault
	newsDown        // it is down
	newsWaits       // it may not vote
)

// newsOf returns what a judgement is for the log, after the state and the reason of the one
// before. corrects reports whether its wait is another one than the log tells.
//
// A master that is down from the start has lost no connection, but is told once: the others
// may be ready without it, and no other line would name it. While it is down, network errors
// vary all the time and are for debugging only; an error that the master itself answered is
// told, and so are two servers under one name.
func newsOf(was mark.State, why string, j mark.Judgement, corrects bool) news {
	same := was == j.State && why == j.Reason
	switch {
	case j.State == mark.Voting && same:
		return noNews
	case j.State == mark.Voting:
		return newsVotes
	case j.State != mark.Down && j.Reason != mark.WhyWarmingUp && corrects:
		return newsWaits
	case same:
		return noNews
	case j.Reason == mark.WhyWarmingUp:
		return newsWarmUp
	case j.State == mark.Down && was == mark.Down && why != notReached && !j.ByMaster:
		return newsDetail
	case j.State == mark.Down:
		return newsDown
	case j.State == was && why != mark.WhyWarmingUp && !strings.HasSuffix(j.Reason, mark.WhyOtherServer):
		return newsDetail
	default:
		return newsWaits
	}
}

// tell logs it.
func (n news) tell(log hclog.Logger, address string, j mark.Judgement) {
	switch n {
	case newsDetail:
		log.Debug("master does not vote", "state", string(j.State), "reason", j.Reason)
	case newsVotes:
		log.Info("master may vote")
	case newsWarmUp:
		log.Info("master will vote after its clock has been watched for a while", "wait", j.Left.String())
	case newsDown:
		log.Warn("master is down", "address", address, "reason", j.Reason)
	case newsWaits:
		log.Warn("master may not vote", "state", string(j.State), "reason", j.Reason, "wait", max(0, j.Left).String())
	}
}

const (
	// waitSlack is by how much a wait may differ from the one that the log tells, at least;
	// a tenth of the latter is allowed, too.
	waitSlack = 5 * time.Second
	// longerAfter is how long the log tells a shorter wait than the true one, at least. What
	// was granted is not known for a moment when other masters are lost from view, and a
	// wait that comes and goes with them would be logged each time.
	longerAfter = 10 * time.Second
)

// toldWait is the wait that the log tells of a master, and when it was logged, by our clock.
type toldWait struct{ left, at time.Duration }

// corrected reports whether a wait is so different from what the log tells that it is to be
// logged again: it became known, or another one. One that is not counted down, as the reason
// says, is still the same.
func (t toldWait) corrected(left, now time.Duration) bool {
	slack := max(waitSlack, t.left/10)
	return left < t.left-(now-t.at)-slack || left > t.left+slack && now-t.at >= longerAfter
}
