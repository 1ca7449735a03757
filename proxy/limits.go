package proxy

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
)

// Limits that nobody needs to set. Those that somebody may are in Config.
const (
	// Before login Redis takes 10 arguments.
	loginArguments = 10
	// sendBuffer is about what the system holds for one client that does not
	// read, receiveBuffer for one that is not read from; Linux holds twice as
	// much, its own bookkeeping included.
	sendBuffer    = 128 << 10
	receiveBuffer = 128 << 10
	// maxName bounds the names that CLIENT SETNAME and SETINFO store.
	maxName = 256
	// maxQueued bounds the commands of one MULTI, maxWatched the keys of
	// WATCH.
	maxQueued  = 1024
	maxWatched = 1024
	// maxWaitedLists bounds the lists of one BLPOP, maxBlock its time.
	maxWaitedLists = 16
	maxBlock       = 365 * 24 * time.Hour
	// lookEvery is how often a blocked BLPOP looks at the lock itself.
	lookEvery = time.Second
	// maxLooking bounds the sessions that list at a time, listTime the time
	// that one takes; listPage is how many keys are looked at in one step,
	// maxListed how many LOCKS LIST answers with.
	maxLooking = 16
	listTime   = 5 * time.Second
	listPage   = 250
	maxListed  = 10_000
	// lastCall is for commands that were sent before a stop and had not been
	// read by then: in the socket, or on their way. lingering is what clients
	// have then to read the last replies.
	lastCallTime = 100 * time.Millisecond
	lingering    = 100 * time.Millisecond
	// parkAfter is how long a session that waits for its next command keeps a
	// goroutine for it, where there are more than manyReaders of those a part of
	// it: what Go keeps of a goroutine, it looks through for ever. shortestStay is
	// the least, since one that has just been woken must come to read.
	parkAfter    = time.Second
	parkSooner   = 50
	manyReaders  = 1024
	shortestStay = time.Millisecond
	// maxTurnedAway bounds the connections over max_clients that are being
	// told so; more are closed without a word.
	maxTurnedAway = 64
)

// frameLimits are those of a session: Redis's own, tighter ones while it is not
// logged in.
func frameLimits(cfg *Config, loggedIn bool) resp.Limits {
	if loggedIn {
		return resp.Limits{Arguments: cfg.MaxArguments, Bytes: cfg.MaxCommandBytes}
	}
	return resp.Limits{
		Arguments:   min(loginArguments, cfg.MaxArguments),
		Bytes:       cfg.MaxCommandBytes,
		BeforeLogin: true,
	}
}
