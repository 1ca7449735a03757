package history

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxMentions bounds the lines of the log about locks that were lost in mentionEvery: clients
// choose how many there are. There is one for a key.
const (
	maxMentions  = 100
	mentionEvery = time.Minute
)

// Mentions decides which locks that were lost the log tells of. Safe for concurrent use.
type Mentions struct {
	mu      sync.Mutex
	latest  *simplelru.LRU[lockID, time.Time]
	skipped int
}

// NewMentions returns one that has told of nothing.
func NewMentions() *Mentions {
	latest, _ := simplelru.NewLRU[lockID, time.Time](maxMentions, nil) // fails only for a size below 1
	return &Mentions{latest: latest}
}

// Due reports whether to tell of a key now, and of how many the log was not told since the last
// line.
func (m *Mentions) Due(db int, key string, now time.Time) (unreported int, due bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := lockID{db, key}
	last, ok := m.latest.Peek(id)
	if _, oldest, any := m.latest.GetOldest(); !ok && any && m.latest.Len() == maxMentions {
		last, ok = oldest, true
	}
	if ok && now.Sub(last) < mentionEvery {
		m.skipped++
		return 0, false
	}
	unreported, m.skipped = m.skipped, 0
	m.latest.Add(id, now)
	return unreported, true
}
