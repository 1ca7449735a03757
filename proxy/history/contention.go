package history

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// contendedKeys is how many keys each shard counts, longer names cut to maxContendedKey;
// contentionHalfLife is the time in which a count halves.
const (
	contendedKeys      = 8
	maxContendedKey    = 256
	contentionHalfLife = time.Minute
)

// contention counts how often the keys of one shard were refused because others had them.
// It keeps the most contended ones, by Metwally's space saving, with counts that halve
// every contentionHalfLife. The zero value is ready.
type contention struct {
	epoch time.Time
	keys  [contendedKeys]contended
	used  int
}

// contended is one key. Its weight is in units of one refusal at the epoch; surplus is
// the part of it that may belong to keys that had its place before.
type contended struct {
	id              lockID
	weight, surplus float64
	refused         *refusals
}

// add counts one refusal of who.
func (c *contention) add(id lockID, who *Holder, now time.Time) {
	if len(id.key) > maxContendedKey {
		id.key = strings.Clone(id.key[:maxContendedKey])
	}
	w := c.worth(now)
	least := 0
	for i := range c.keys[:c.used] {
		k := &c.keys[i]
		if k.id == id {
			k.weight += w
			k.refused.add(who, now)
			return
		}
		if k.weight < c.keys[least].weight {
			least = i
		}
	}
	if c.used < len(c.keys) {
		least = c.used
		c.keys[least].refused = new(refusals)
		c.used++
	}
	k := &c.keys[least]
	*k.refused = refusals{}
	k.refused.add(who, now)
	*k = contended{id: id, weight: k.weight + w, surplus: k.weight, refused: k.refused}
}

// find returns a key that is contended, or nil.
func (c *contention) find(id lockID) *contended {
	for i := range c.keys[:c.used] {
		if c.keys[i].id == id {
			return &c.keys[i]
		}
	}
	return nil
}

// worth returns the weight of a refusal now: later ones weigh more, so that the counts of
// earlier ones need not be halved.
func (c *contention) worth(now time.Time) float64 {
	if c.epoch.IsZero() {
		c.epoch = now
	}
	age := float64(now.Sub(c.epoch)) / float64(contentionHalfLife)
	if age > 500 {
		// The numbers would become too great.
		for i := range c.keys[:c.used] {
			c.keys[i].weight = math.Ldexp(c.keys[i].weight, -int(age))
			c.keys[i].surplus = math.Ldexp(c.keys[i].surplus, -int(age))
		}
		c.epoch = c.epoch.Add(time.Duration(int(age)) * contentionHalfLife)
		age -= float64(int(age))
	}
	return math.Exp2(age)
}

// Contended is a key that clients wanted while others had it.
type Contended struct {
	DB  int
	Key string
	// PerMinute is the recent rate of refusals.
	PerMinute float64
	// Holder has the lock, as far as this redlockd knows; else nil.
	Holder *Holder
}

// Contended returns the most contended keys, at most most.
func (t *Locks) Contended(now time.Time, most int) []Contended {
	var list []Contended
	// The weight of refusals at a steady rate is the rate times this.
	minutes := contentionHalfLife.Minutes() / math.Ln2
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		w := s.hot.worth(now)
		for _, k := range s.hot.keys[:s.hot.used] {
			if rate := (k.weight - k.surplus) / w / minutes; rate >= 0.1 {
				list = append(list, Contended{k.id.db, k.id.key, rate, s.holderLocked(k.id, now)})
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Contended) int {
		return cmp.Or(cmp.Compare(b.PerMinute, a.PerMinute), cmp.Compare(a.DB, b.DB), cmp.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), most)]
}
