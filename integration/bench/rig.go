package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// rig is what all workloads share: the binary, a folder, and every process
// that was started.
type rig struct {
	dir    string
	binary string
	// before is another redlockd, to compare with; or empty.
	before string
	// timeout is redlockd's quorum.timeout; 0 is its default.
	timeout time.Duration

	mu        sync.Mutex
	processes []*process
}

// newRig builds redlockd, as a release is built, unless there is a binary.
func newRig(ctx context.Context, root, binary string) (*rig, error) {
	dir, err := os.MkdirTemp("", "redlockd-bench-")
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir, binary: binary}
	if binary != "" {
		return r, nil
	}
	r.binary = filepath.Join(dir, "redlockd")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-pgo=packaging/release/redlockd.pgo", "-o", r.binary, ".")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		r.close()
		return nil, fmt.Errorf("building redlockd: %w\n%s", err, said)
	}
	return r, nil
}

// mark is how many processes there are, for stopSince.
func (r *rig) mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.processes)
}

// stopSince stops what was started after mark, the latest first: redlockd
// before its masters.
func (r *rig) stopSince(mark int) {
	r.mu.Lock()
	list := r.processes[mark:]
	r.processes = r.processes[:mark]
	r.mu.Unlock()
	for i := len(list) - 1; i >= 0; i-- {
		list[i].stop()
	}
}

// close stops everything and removes the files.
func (r *rig) close() {
	r.stopSince(0)
	_ = os.RemoveAll(r.dir)
}
