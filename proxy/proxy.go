package proxy

import (
	"context"
	"net"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/quorum"
)

// Quorum is what a session needs of the room below.
type Quorum interface {
	Do(op *quorum.Op, client quorum.Client, done func(*quorum.Outcome))
	Open(db int, done func())
	Now() int64
	Status() quorum.Status
}

// Server accepts connections and serves sessions.
type Server struct{}

// New returns a server that has not begun to listen. version is redlockd's
// own; dev says that the masters are embedded and keep nothing.
func New(cfg Config, in *commands.Interpreter, q Quorum, version string, log hclog.Logger) *Server {
	return &Server{}
}

// Serve accepts from ln until Shutdown, and returns nil then. It closes ln.
func (s *Server) Serve(ln net.Listener) error { return nil }

// Shutdown stops accepting, lets every session finish and answer what it has
// read, and closes them; when ctx is over it closes them at once and returns
// ctx's error (S6).
func (s *Server) Shutdown(ctx context.Context) error { return nil }
