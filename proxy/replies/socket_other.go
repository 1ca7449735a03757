//go:build !unix

package replies

import (
	"errors"
	"net"
	"syscall"
)

// socketOf is nil here: every batch is written by a goroutine that may wait.
func socketOf(net.Conn) syscall.RawConn { return nil }

type socketCalls struct{}

func (w *batch) init() {}

// hungUp is left to reading here.
func (p *Pipeline) hungUp(*batch) bool { return false }

// writeNow is never called here.
func (p *Pipeline) writeNow(*batch) (int, error) { return 0, errors.ErrUnsupported }
