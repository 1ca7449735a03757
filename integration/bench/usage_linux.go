package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// tick is the unit of the times in /proc/PID/stat. It is fixed by the kernel's
// interface, whatever the kernel counts in.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process has used, in user mode and in the
// kernel; ok is false where the system does not tell.
func cpuOf(pid int) (user, system time.Duration, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name, in brackets, may hold anything; utime and stime are the 12th
	// and 13th field behind it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, 0, false
	}
	u, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	s, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(u) * tick, time.Duration(s) * tick, err1 == nil && err2 == nil
}

// callsOf is how often a process has called the kernel to read or to write,
// waiting apart.
func callsOf(pid int) (calls int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0 // not known, and not shown
	}
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		if string(name) == "syscr" || string(name) == "syscw" {
			n, _ := strconv.ParseInt(string(value), 10, 64)
			calls += n
		}
	}
	return calls
}
