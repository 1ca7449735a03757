//go:build !unix

package replies

import (
	"errors"
	"net"
	"syscall"
)

// socketOf returns nil here: every batch is written by a goroutine that may block.
func socketOf(net.Conn) syscall.RawConn { return nil }

type socketCalls struct{}

func (w *batch) init() {}

// hungUp reports false here: only reading detects that the client has gone.
func (p *Pipeline) hungUp(*batch) bool { return false }

// writeNow is never called here.
func (p *Pipeline) writeNow(*batch) (int, error) { return 0, errors.ErrUnsupported }
