package commands

import "time"

// millis converts n milliseconds, which must be within the bounds of TTLs.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// seconds rounds a remaining time in milliseconds to seconds, as Redis's TTL does.
func seconds(ms int64) int64 { return (ms + 500) / 1000 }

// wholeMillis cuts a remaining time to whole milliseconds, at least one, as operations
// need it.
func wholeMillis(d time.Duration) time.Duration {
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}
