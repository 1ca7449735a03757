package outbox

import (
	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/vote"
)

// Page is one step through one master's keys (SCAN), or their number (DBSIZE) if Count is 0.
// The answer may be read once the task's OnAnswer was called.
type Page struct {
	// Cursor and Count are the arguments of SCAN; Next and Keys are its answer.
	Cursor uint64
	Count  int
	Next   uint64
	Keys   []string
	// Size is the answer to DBSIZE.
	Size int64
}

// read stores a master's answer in the page.
func (p *Page) read(msg rueidis.RedisMessage) vote.Ballot {
	var err error
	if p.Count == 0 {
		p.Size, err = msg.AsInt64()
	} else {
		var e rueidis.ScanEntry
		e, err = msg.AsScanEntry()
		p.Next, p.Keys = e.Cursor, e.Elements
	}
	if err != nil {
		return vote.Ballot{Vote: vote.Silent}
	}
	return vote.Ballot{Vote: vote.Found}
}
