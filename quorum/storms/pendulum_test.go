package storms

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// pendulum is the clock of a redlockd: it has a rate of its own, and stands still when
// the redlockd does.
type pendulum struct {
	*fakeredis.World
	rate    float64
	mu      sync.Mutex
	stopped bool
	at      time.Duration
	lost    time.Duration
}

func (p *pendulum) now() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.World.Now()
	if p.stopped {
		at = p.at
	}
	return time.Hour + time.Duration(float64(at-p.lost)*p.rate)
}

func (p *pendulum) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped, p.at = true, p.World.Now()
}

// standstill returns how long the clock has stood still in all.
func (p *pendulum) standstill() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// goOn starts the clock again, with the time that has passed or without it.
func (p *pendulum) goOn(counts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped = false; !counts {
		p.lost += p.World.Now() - p.at
	}
}

// logger adds what a redlockd logs to the story.
type logger struct {
	hclog.Logger
	node *node
	with string
}

func (l *logger) With(args ...any) hclog.Logger {
	return &logger{Logger: l.Logger, node: l.node, with: l.with + " " + fmt.Sprint(args...)}
}

func (l *logger) Named(string) hclog.Logger { return l }

func (l *logger) say(text string, args []any) {
	l.node.tell("redlockd %d%s: %s %s", l.node.number, l.with, text, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

func (l *logger) Info(text string, args ...any)  { l.say(text, args) }
func (l *logger) Warn(text string, args ...any)  { l.say(text, args) }
func (l *logger) Error(text string, args ...any) { l.say(text, args) }
