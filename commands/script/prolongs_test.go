package script

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands/values"
)

// many are the inputs of a call that renews n locks, and what these hold.
func many(n int) (keys, args []string, own []State) {
	args = []string{"30000"}
	for i := range n {
		keys = append(keys, fmt.Sprintf("lock:%d", i))
		args = append(args, fmt.Sprintf("8b5a4cf6-5b0e-4c0e-a4ee-%012d:1", i))
		own = append(own, State{Found: true, Value: string(values.HashOf(values.Member{Field: args[i+1], Value: "1"})), TTL: time.Second})
	}
	return
}

const renews = `local done = {}
for i, key in ipairs(KEYS) do
  if redis.call('HEXISTS', key, ARGV[i + 1]) == 1 then done[i] = redis.call('PEXPIRE', key, ARGV[1]) else done[i] = 0 end
end
return done`

func BenchmarkUnderstandMany(b *testing.B) {
	l := NewLibrary()
	sha, _ := l.Load(renews)
	keys, args, _ := many(100)
	for b.Loop() {
		m, err := l.Understand(0, sha, keys, args)
		if err != nil || !m.Prolongs {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunMany(b *testing.B) {
	l := NewLibrary()
	sha, _ := l.Load(renews)
	keys, args, own := many(100)
	m, _ := l.Understand(0, sha, keys, args)
	for b.Loop() {
		m.Run(own)
	}
}
