//go:build !unix

package main

import "math"

// descriptorLimit returns a number beyond every need: this system has no such limit.
func descriptorLimit() int { return math.MaxInt32 }
