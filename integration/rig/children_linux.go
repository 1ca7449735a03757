package rig

import "syscall"

// childAttr makes a child end with the tests, also when these are killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
