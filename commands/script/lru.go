package script

import "container/list"

// lru is a map that drops the least recently used entry. It is not safe for concurrent
// use. A library's LRU would copy each key that is looked up, two for every EVAL, since
// they are put together as []byte. Library also bounds bytes, by evict.
type lru[V any] struct {
	max     int
	order   *list.List // of *lruEntry[V], the latest in front
	entries map[string]*list.Element
}

type lruEntry[V any] struct {
	key string
	v   V
}

func newLRU[V any](max int) *lru[V] {
	return &lru[V]{max: max, order: list.New(), entries: map[string]*list.Element{}}
}

// get does not allocate: the compiler looks a []byte up without a copy.
func (l *lru[V]) get(key []byte) (v V, ok bool) {
	e, ok := l.entries[string(key)]
	if !ok {
		return v, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruEntry[V]).v, true
}

func (l *lru[V]) put(key string, v V) {
	if e, ok := l.entries[key]; ok {
		e.Value.(*lruEntry[V]).v = v
		l.order.MoveToFront(e)
		return
	}
	l.entries[key] = l.order.PushFront(&lruEntry[V]{key, v})
	if len(l.entries) > l.max {
		l.evict()
	}
}

// evict removes the oldest entry and returns it.
func (l *lru[V]) evict() (v V) {
	e := l.order.Back()
	if e == nil {
		return v
	}
	entry := l.order.Remove(e).(*lruEntry[V])
	delete(l.entries, entry.key)
	return entry.v
}
