package quorum

import "github.com/redlockd/redlockd/quorum/cluster"

// keyspace is one database as operations see it: its masters, and the queues of its
// keys.
type keyspace struct {
	*cluster.Database
	keys  keyTable
	watch watchTable
}

// keyspace returns the keyspace of a database, and opens it if need be.
func (q *Quorum) keyspace(number int) *keyspace {
	if k := q.keyspaces[number].Load(); k != nil {
		return k
	}
	k := &keyspace{Database: q.cluster.Database(number)}
	k.keys.init()
	k.watch.on = map[string]map[*Watch]struct{}{}
	if !q.keyspaces[number].CompareAndSwap(nil, k) {
		return q.keyspaces[number].Load()
	}
	return k
}
