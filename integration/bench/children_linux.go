package main

import "syscall"

// childAttr puts a server into a group of its own, so that a Ctrl-C reaches
// the bench alone, and ends it with the bench however that ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
