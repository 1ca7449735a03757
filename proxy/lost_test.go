package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
)

// loses takes a lock away, as another redlockd does.
func (q *fakeQuorum) loses(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.locks, id(0, key))
}

// TestLostIsTold: the log, the metric and those who subscribe and may know hear of a lock that its
// holder asks for in vain.
func TestLostIsTold(t *testing.T) {
	var log strings.Builder
	q := newFakeQuorum()
	q.log = &log
	everything := commands.MayAcquire | commands.MayRead | commands.MayRemove
	r := startWith(t, q, commands.New(commands.DefaultConfig(), q.Now), func(c *Config) {
		c.Passwords = []string{"p"}
		c.Users = []users.User{
			{Name: "guest", Passwords: []string{"g"}, Keys: []string{"*"}, Channels: []string{"*"}, Operations: everything},
			{Name: "elsewhere", Passwords: []string{"e"}, Keys: []string{"x*"}, Channels: []string{"*"}, Operations: everything | commands.MayAdmin},
		}
	})
	login := func(auth, subscribe string) *raw {
		c := r.dial(t)
		c.ask("AUTH "+auth, "+OK\r\n")
		if subscribe != "" {
			command, name, _ := strings.Cut(subscribe, " ")
			c.ask(subscribe, fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:1\r\n", len(command), command, len(name), name))
		}
		return c
	}
	hears, guest, elsewhere := login("p", "psubscribe __redlockd__*"), login("guest g", "psubscribe *"), login("elsewhere e", "subscribe __redlockd__:lost")
	holder := login("p", "")
	holder.ask("CLIENT SETNAME billing-7", "+OK\r\n")
	for range 2 {
		holder.ask("SET k secret-token NX PX 60000", "+OK\r\n")
		q.loses("k")
		holder.ask("GET k", "$-1\r\n")
	}
	for range 2 {
		hears.want("*4\r\n$8\r\npmessage\r\n$13\r\n__redlockd__*\r\n$17\r\n__redlockd__:lost\r\n")
		size, err := hears.r.ReadString('\n')
		if err != nil || size[0] != '$' {
			t.Fatal(size, err)
		}
		text, err := hears.r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`{"db":0,"key":"k","cause":"changed","since":`, `"holder":{"id":`, `"name":"billing-7","addr":"` + holder.LocalAddr().String() + `","user":"default"}}`} {
			if !strings.Contains(text, want) {
				t.Errorf("the message is %s, want %s", text, want)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("the message has the token: %s", text)
		}
	}
	for _, c := range []*raw{guest, elsewhere} { // the one may see no holders, the other not this key
		c.ask("PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n")
	}
	if lost := r.Lost(); lost["changed"] != 2 || lost["expired"] != 0 || lost["forced"] != 0 {
		t.Errorf("counted are %v", lost)
	}
	said := log.String()
	if n := strings.Count(said, "a lock was lost, and its holder asks for it: key=k db=0 cause=changed"); n != 1 || !strings.Contains(said, "holder_name=billing-7") {
		t.Errorf("the log tells %d times, want once in a minute:\n%s", n, said)
	}
}
