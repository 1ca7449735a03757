package integration

import (
	"context"
	"fmt"
	"testing"
)

// TestV14WrongType: what others keep under a lock's name on the masters is
// refused, and is no silence, by each kind of master: Redis 6.2 says WRONGTYPE
// within an error of the script, and bundles have it as one answer of many.
func TestV14WrongType(t *testing.T) {
	t.Parallel()
	r, masters := StartCluster(t, 3)
	const many = 50
	for _, m := range masters {
		for i := range many {
			if err := m.Client.RPush(context.Background(), fmt.Sprint("list:", i), "x").Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := DialWire(t, r.Addr)
	for _, c := range []struct {
		want    string
		command []string
	}{
		{"$-1\r\n", []string{"SET", "list:0", "me", "NX", "PX", "60000"}},
		{"$-1\r\n", []string{"SET", "list:0", "me", "IFEQ", "me", "PX", "60000"}},
		{"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", []string{"GET", "list:0"}},
		{":0\r\n", []string{"DELEX", "list:0", "IFEQ", "me"}},
		{":0\r\n", []string{"EVAL", releaseScript, "1", "list:0", "me"}},
		{":0\r\n", []string{"EVAL", extendScript, "1", "list:0", "me", "60000"}},
	} {
		if got := w.Ask(c.command...); got != c.want {
			t.Errorf("%.40q: %q, want %q", c.command, got, c.want)
		}
	}
	for _, c := range []struct {
		want    string
		command []string
	}{{"$-1\r\n", []string{"SET", "", "me", "NX", "PX", "60000"}}, {":0\r\n", []string{"DELEX", "", "IFEQ", "me"}}} {
		var all []byte
		for i := range many {
			c.command[1] = fmt.Sprint("list:", i)
			all = append(all, command(c.command...)...)
		}
		w.Send(all)
		for i := range many {
			if got := string(w.Frame()); got != c.want {
				t.Errorf("%s of list:%d among many: %q, want %q", c.command[0], i, got, c.want)
			}
		}
	}
}
