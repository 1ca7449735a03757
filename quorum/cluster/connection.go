package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// Bounds on getting a connection. Connecting to a host is given up soon and tried again;
// the greeting may take longer, because a frozen master answers it as soon as it thaws.
const (
	reachTimeout = time.Second
	greetTimeout = 5 * time.Second
	stuckAfter   = 2 * time.Second
	// unheardAfter is when a connection whose batch is not answered is closed.
	unheardAfter = 10 * time.Second
)

// connectionBuffer is the size of each of a connection's two buffers in bytes: a batch of
// some hundred locks fits. There is a connection for each database of each master.
const connectionBuffer = 64 << 10

// clientName is the name of each connection in CLIENT LIST of a master.
const clientName = "redlockd"

var errConnectionOver = errors.New("the connection was closed")

// connection is one connection to a master's database, from dialling to its end. The
// rueidis client may not dial a second time, so one connection is one order of commands
// (M3).
type connection struct {
	dialect outbox.Dialect
	// id is the master's number for the connection, needed for the fence.
	id    int64
	runID string
	// turn holds one element while a call is under way. With one call at a time rueidis
	// writes and reads in the caller's goroutine, without the detour over two of its own.
	turn chan struct{}

	master Master
	mu     sync.Mutex
	socket net.Conn
	closed bool
}

func newConnection(m Master) *connection {
	return &connection{master: m, dialect: outbox.NewDialect(), turn: make(chan struct{}, 1)}
}

// dial connects and greets. No operation ever calls it.
func (c *connection) dial(db int) error {
	m := c.master
	// Without KeepAlive rueidis sends no PING of its own, which would be a second call at
	// a time; the monitor looks once a second.
	dialer := net.Dialer{Timeout: greetTimeout, KeepAlive: -1}
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress:         []string{m.Address},
		Username:            m.Username,
		Password:            m.Password,
		SelectDB:            db,
		ClientName:          clientName,
		ClientSetInfo:       rueidis.DisableClientSetInfo,
		Dialer:              dialer,
		DialCtxFn:           c.reach,
		ForceSingleClient:   true,
		DisableCache:        true,
		DisableRetry:        true,
		ConnWriteTimeout:    unheardAfter,
		PipelineMultiplex:   -1,
		RingScaleEachConn:   6,
		ReadBufferEachConn:  connectionBuffer,
		WriteBufferEachConn: connectionBuffer,
	})
	if err != nil {
		if client != nil {
			client.Close()
		}
		c.close()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialect.Client, c.dialect.DB = client, db
	return nil
}

// reach dials for rueidis, and fails from the second time on.
func (c *connection) reach(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
	c.mu.Lock()
	over := c.socket != nil || c.closed
	c.mu.Unlock()
	if over {
		return nil, errConnectionOver
	}
	socket, err := c.master.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = socket.Close()
		return nil, errConnectionOver
	}
	c.socket = socket
	return socket, nil
}

// close ends the connection at once. Calls under way fail.
func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if c.socket != nil {
		_ = c.socket.Close()
	}
	if c.dialect.Client != nil {
		// In the background, because it waits for rueidis's own goroutines; and once a
		// call under way has failed, beside which it may wait for ever.
		go func() {
			c.waitTurn()
			c.dialect.Client.Close()
			c.passTurn()
		}()
	}
}

// waitTurn waits for the turn to call, passTurn gives it away.
func (c *connection) waitTurn() { c.turn <- struct{}{} }
func (c *connection) passTurn() { <-c.turn }

// call sends commands in one write and waits for all the answers, or for the end of the
// connection. The caller has the turn.
func (c *connection) call(commands ...rueidis.Completed) []rueidis.RedisResult {
	// The call has no deadline, because rueidis would close the connection when it
	// passes.
	return c.dialect.Client.DoMulti(context.Background(), commands...)
}

// ask is call for the monitor, which asks at least once a second. It closes a connection
// that does not answer within stuckAfter: after a network cut, a new connection is
// quicker than waiting for TCP to give up.
func (c *connection) ask(commands ...rueidis.Completed) []rueidis.RedisResult {
	stuck := time.AfterFunc(stuckAfter, c.close)
	defer stuck.Stop()
	c.waitTurn()
	defer c.passTurn()
	return c.call(commands...)
}

// Connect connects to the master, over TLS if there is a configuration for it. The
// connection is not logged in.
func (m *Master) Connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	d := &net.Dialer{KeepAlive: time.Second}
	switch {
	case m.Dial != nil:
		return m.Dial()
	case m.TLS == nil:
		return d.DialContext(ctx, "tcp", m.Address)
	}
	secure := tls.Dialer{NetDialer: d, Config: m.TLS}
	socket, err := secure.DialContext(ctx, "tcp", m.Address)
	if err != nil {
		return nil, err
	}
	return alerted{socket.(*tls.Conn)}, nil // as documented
}

// SameConnection reports whether a connection to m serves other, too.
func (m *Master) SameConnection(other Master) bool {
	return m.Address == other.Address && m.Username == other.Username && m.Password == other.Password &&
		(m.TLS == nil) == (other.TLS == nil)
}

// reasonOf shortens an error for operators.
func reasonOf(err error) string {
	if err == nil {
		return "the connection ended"
	}
	text := outbox.TrimScriptPrefix(err.Error())
	if len(text) > 200 {
		text = text[:200]
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", " "), "\n", " ")
}

// broken reports whether an error is the end of the connection, and not the master's
// answer.
func broken(err error) bool {
	if err == nil {
		return false // without the memory that errors.As needs
	}
	var re *rueidis.RedisError
	return !errors.As(err, &re)
}
