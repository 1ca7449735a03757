package history

import "time"

// maxRefused is how many clients are remembered of those that were refused a key. Of more than
// that the latest are.
const maxRefused = 32

// refusals are the clients that were refused one key because another had it. The zero value is
// ready.
type refusals struct {
	clients [maxRefused]refusal
	used    int
}

// Wants is for how long a client that was refused a lock is taken for one that wants it, as it
// will ask again.
const Wants = time.Minute

// refusal is the latest one of a client, and the first since it wants the lock. who is nil if it
// has got the lock since. Times are in milliseconds since 1970.
type refusal struct {
	who       *Holder
	first, at int64
}

// add records that who was refused.
func (r *refusals) add(who *Holder, now time.Time) {
	oldest := 0
	for i := range r.clients[:r.used] {
		c := &r.clients[i]
		if c.who != nil && c.who.Session == who.Session {
			if !c.wants(now) {
				c.first = now.UnixMilli()
			}
			c.at = now.UnixMilli()
			return
		}
		if c.at < r.clients[oldest].at {
			oldest = i
		}
	}
	if r.used < len(r.clients) {
		oldest = r.used
		r.used++
	}
	r.clients[oldest] = refusal{who, now.UnixMilli(), now.UnixMilli()}
}

func (c *refusal) wants(now time.Time) bool { return now.UnixMilli()-c.at <= Wants.Milliseconds() }

// remove forgets a client, since it has got the lock, and returns how long it has wanted it; -1 if
// it was not refused lately.
func (r *refusals) remove(who *Holder, now time.Time) time.Duration {
	waited := time.Duration(-1)
	for i := range r.clients[:r.used] {
		if c := &r.clients[i]; c.who != nil && c.who.Session == who.Session {
			if c.wants(now) {
				waited = time.Duration(now.UnixMilli()-c.first) * time.Millisecond
			}
			*c = refusal{}
		}
	}
	return waited
}

// Refused is a client that was refused a lock, and when that was last.
type Refused struct {
	Holder
	At time.Time
}

// RefusedSince returns the clients that were refused a lock since a time and have not got it
// after that. more reports whether there may be others.
func (t *Locks) RefusedSince(db int, key string, since time.Time) (list []Refused, more bool) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.hot.find(lockID{db, key})
	if k == nil {
		return nil, false
	}
	for _, c := range k.refused.clients[:k.refused.used] {
		if c.who != nil && c.at >= since.UnixMilli() {
			list = append(list, Refused{*c.who, time.UnixMilli(c.at)})
		}
	}
	return list, len(list) == maxRefused
}
