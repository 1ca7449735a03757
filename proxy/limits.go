package proxy

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
)

// Limits that need no configuration. The others are in Config.
const (
	// loginArguments bounds the arguments of a command before login, as in Redis.
	loginArguments = 10
	// sendBuffer is about what the system buffers for a client that does not read,
	// receiveBuffer for one that is not read from; Linux takes twice as much, its own
	// bookkeeping included.
	sendBuffer    = 128 << 10
	receiveBuffer = 128 << 10
	// maxName bounds the names that CLIENT SETNAME and SETINFO store.
	maxName = 256
	// maxQueued bounds the commands of one MULTI, maxWatched the keys that a session
	// watches.
	maxQueued  = 1024
	maxWatched = 1024
	// maxWaitedLists bounds the lists of one BLPOP, maxBlock its time.
	maxWaitedLists = 16
	maxBlock       = 365 * 24 * time.Hour
	// lookEvery is how often a blocked BLPOP reads the lock.
	lookEvery = time.Second
	// maxLooking bounds the listings under way at a time, listTime the duration of each;
	// listPage is how many keys are looked at in one step, maxListed how many LOCKS LIST
	// and KEYS answer with at most.
	maxLooking = 16
	listTime   = 5 * time.Second
	listPage   = 250
	maxListed  = 10_000
	// lastCallTime is how long a stopped session still reads commands that were sent
	// before: they may be in the socket or on their way. lingering is how long clients
	// have then to read the last replies.
	lastCallTime = 100 * time.Millisecond
	lingering    = 100 * time.Millisecond
	// parkAfter is how long a session that waits for its next command keeps its
	// goroutine, or parkAfter / parkSooner while more than manyReaders sessions have one:
	// the garbage collector has to scan each goroutine's stack. shortestStay is the least
	// time for which a woken session stays awake, so that it gets to read.
	parkAfter    = time.Second
	parkSooner   = 50
	manyReaders  = 1024
	shortestStay = time.Millisecond
)

// MaxTurnedAway bounds the TLS connections over max_clients that are being answered an
// error; more are closed without one. Each needs a descriptor that is no client's.
const MaxTurnedAway = 8

// frameLimits returns the limits of a session's frames: those of the configuration, and
// Redis's tighter ones before login.
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
