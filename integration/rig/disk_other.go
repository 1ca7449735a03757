//go:build !linux

package rig

import "errors"

// FullDisk is not possible here.
func (m *Master) FullDisk(int64) error { return errors.ErrUnsupported }
