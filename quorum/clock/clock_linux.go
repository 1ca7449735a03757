package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// System returns CLOCK_BOOTTIME, which keeps running while the host is suspended.
func System() Clock {
	boot := func() time.Duration {
		var now unix.Timespec
		// Every Linux that Go runs on has it. If it stood at 0, bootTime would go by time.Now.
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
		return time.Duration(now.Nano())
	}
	start := time.Now()
	return newBootTime(boot, func() (wall, monotonic time.Duration) {
		now := time.Now()
		return time.Duration(now.UnixNano()), now.Sub(start)
	}).now
}

// asleep is the least time that counts as a suspension: clocks are read one after the other.
const asleep = time.Millisecond

// bootTime is CLOCK_BOOTTIME without a system call for each reading, which is what it costs in Go,
// unlike time.Now. A suspension moves CLOCK_BOOTTIME and the wall clock by the same time, and the
// monotonic clock not at all. So as long as the wall clock has passed the same time as the
// monotonic one, CLOCK_BOOTTIME has too; else it is read. Safe for concurrent use.
type bootTime struct {
	boot   Clock
	clocks func() (wall, monotonic time.Duration)

	mu   sync.Mutex // held while last is replaced
	last atomic.Pointer[moment]
}

// moment is a reading of all clocks.
type moment struct{ boot, wall, monotonic time.Duration }

func newBootTime(boot Clock, clocks func() (wall, monotonic time.Duration)) *bootTime {
	b := &bootTime{boot: boot, clocks: clocks}
	b.last.Store(b.read())
	return b
}

// now is a Clock.
func (b *bootTime) now() time.Duration {
	if now, awake := b.derived(); awake {
		return now
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now, awake := b.derived()
	if awake {
		return now // another goroutine was here first
	}
	before, m := b.last.Load(), b.read()
	if awake := before.boot + m.monotonic - before.monotonic; m.boot-awake < asleep {
		m.boot = awake // only the wall clock was set
	}
	b.last.Store(m)
	return m.boot
}

// derived returns the time, if the wall clock says that the host was not suspended since last.
func (b *bootTime) derived() (now time.Duration, awake bool) {
	m := b.last.Load()
	wall, monotonic := b.clocks()
	passed := monotonic - m.monotonic
	moved := wall - m.wall - passed
	return m.boot + passed, -asleep < moved && moved < asleep
}

// read reads all clocks, again if this goroutine was stopped in between.
func (b *bootTime) read() *moment {
	for {
		wall, monotonic := b.clocks()
		boot := b.boot()
		if _, after := b.clocks(); after-monotonic < asleep {
			return &moment{boot, wall, monotonic}
		}
	}
}
