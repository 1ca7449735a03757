package cluster

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/internal/certtest"
)

// TestReasonOfAResetConnection: a master that wants a certificate says so after the
// handshake, and resets the connection. Its words are the reason, and not the reset.
func TestReasonOfAResetConnection(t *testing.T) {
	ca := certtest.NewAuthority(t, "ca")
	files := ca.Files(t, "master")
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	reset := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			reset <- err
			return
		}
		server := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert})
		_ = server.Handshake() // which sends the alert
		_ = conn.(*net.TCPConn).SetLinger(0)
		reset <- conn.Close()
	}()
	m := Master{Address: ln.Addr().String(), TLS: &tls.Config{InsecureSkipVerify: true}}
	socket, err := m.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := <-reset; err != nil {
		t.Fatal(err)
	}
	if _, err = socket.Write([]byte("PING\r\n")); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("the write fails with %v, want the server's alert", err)
	}
}
