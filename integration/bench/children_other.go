//go:build !linux

package main

import "syscall"

// childAttr puts a server into a group of its own, so that a Ctrl-C reaches
// the bench alone, which then stops everything.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
