//go:build !unix

package main

import (
	"errors"
	"net"
	"os"
)

func listenUnix(string, os.FileMode) (net.Listener, error) {
	return nil, errors.New("this system has no Unix sockets with permissions: take listen.unix out of the file")
}
