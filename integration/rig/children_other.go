//go:build !linux

package rig

import "syscall"

// childAttr is nothing where the system cannot end children with their
// parent.
func childAttr() *syscall.SysProcAttr { return nil }
