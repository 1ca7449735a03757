package rig

import "golang.org/x/sys/unix"

// FullDisk makes the next bytes that the master appends to a file longer than
// so many fail, as they do on a full disk; a negative number ends it. The
// error is one of the system: not every system lets a process be limited.
func (m *Master) FullDisk(bytes int64) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(m.Pid(), unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return err
	}
	limit.Cur = uint64(bytes)
	if bytes < 0 {
		limit.Cur = limit.Max
	}
	return unix.Prlimit(m.Pid(), unix.RLIMIT_FSIZE, &limit, nil)
}
