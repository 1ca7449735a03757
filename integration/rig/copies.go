package rig

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// What the masters store, read past redlockd.

// Holds reports whether the master has the key, in database 0; the token counts if
// it is not empty.
func (m *Master) Holds(key, token string) bool {
	m.tb.Helper()
	got, err := m.Client.Get(context.Background(), key).Result()
	switch {
	case err == redis.Nil:
		return false
	case err != nil:
		m.tb.Errorf("GET %s at the master %s: %v", key, m.Addr, err)
		return false
	}
	return token == "" || Token(got) == token
}

// WaitHeld waits until the masters have the key and returns the addresses of
// those that still have not: a reply needs no more than a majority.
func WaitHeld(masters []*Master, key, token string, within time.Duration) []string {
	deadline := time.Now().Add(within)
	for {
		var without []string
		for _, m := range masters {
			if !m.Holds(key, token) {
				without = append(without, m.Addr)
			}
		}
		if len(without) == 0 || time.Now().After(deadline) {
			return without
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Token returns the token of what a master stores, without the tail that docs/design.md
// describes.
func Token(value string) string {
	if at := len(value) - 40; at >= 0 && value[at:at+3] == "~rl" {
		return value[:at]
	}
	return value
}
