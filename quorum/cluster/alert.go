package cluster

import (
	"crypto/tls"
	"errors"
	"net"
	"time"
)

// alertTime bounds how long the server's alert is looked for, which has arrived already.
const alertTime = 100 * time.Millisecond

// alerted is a TLS connection whose writes fail with the server's reason for closing it. A
// server that wants a certificate, for example, says so only after the handshake, and
// resets the connection: then the write fails before its alert is read.
type alerted struct{ *tls.Conn }

// Write is that of the connection.
func (c alerted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		if alert := c.alert(); alert != nil {
			err = alert
		}
	}
	return n, err
}

// alert returns the error that the server sent, or nil.
func (c alerted) alert() error {
	_ = c.SetReadDeadline(time.Now().Add(alertTime))
	var remote *net.OpError
	_, err := c.Read(make([]byte, 1))
	if errors.As(err, &remote) && remote.Op == "remote error" {
		return err
	}
	return nil
}
