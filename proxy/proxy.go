package proxy

import (
	"context"

	"github.com/redlockd/redlockd/quorum"
)

// RedisVersion is the version that HELLO and INFO report. From 8.4.0 on
// StackExchange.Redis and Spring Integration take locks with one command each, SET IFEQ
// and DELEX, instead of with WATCH or scripts (C6).
const RedisVersion = "8.4.0"

// Quorum is what a session needs of package quorum.
type Quorum interface {
	Do(op *quorum.Op, client quorum.Client, done func(*quorum.Outcome))
	Open(db int, done func())
	Opened(db int) bool
	Bus(deliver func(quorum.Message)) quorum.Bus
	Status() quorum.Status
	Scan(ctx context.Context, db int, cursor uint64, match func(key string) bool, count int) (quorum.Page, error)
	Copies(ctx context.Context, db int, key string) []quorum.Copy
	Size(ctx context.Context, db int) (int64, error)
}
