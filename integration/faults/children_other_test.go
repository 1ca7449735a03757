//go:build !linux

package faults

import "syscall"

// childAttr is nothing where the system cannot end children with their
// parent.
func childAttr() *syscall.SysProcAttr { return nil }
