package commands

import "time"

// millis is n milliseconds, for an n that the rules on TTLs have let pass.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// seconds rounds a remaining time to seconds as TTL does.
func seconds(ms int64) int64 { return (ms + 500) / 1000 }

// wholeMillis cuts a remaining time to what an operation may ask for.
func wholeMillis(d time.Duration) time.Duration {
	return max(d.Truncate(time.Millisecond), time.Millisecond)
}
