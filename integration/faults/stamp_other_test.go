//go:build !linux

package faults

import (
	"net"
	"time"
)

// stamped is for systems that say when bytes were received.
type stamped struct{ at time.Time }

func newStamped(net.Conn) *stamped { return nil }

func (s *stamped) Read([]byte) (int, error) { return 0, net.ErrClosed }
