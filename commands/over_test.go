package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/redlockd/redlockd/quorum"
)

// TestV15OverReadFirst checks what is done and replied to commands that read first where the lock is
// over but its copies are not (V15): the reply is that of an absent key, who would have the
// lock either way takes the copies, for the whole TTL, and only who releases it deletes them.
func TestV15OverReadFirst(t *testing.T) {
	const (
		addOrTake      = "local p=redis.call('pttl',KEYS[1]) if p<0 then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 'new' end redis.call('pexpire',KEYS[1],p+1000) return p"
		addToOwn       = "local p=redis.call('pttl',KEYS[1]) if redis.call('get',KEYS[1])==ARGV[1] then redis.call('pexpire',KEYS[1],p+ARGV[2]) return p end return 'none'"
		takeElseExtend = "if redis.call('setnx',KEYS[1],ARGV[1])==1 then redis.call('pexpire',KEYS[1],ARGV[2]) return 1 end redis.call('pexpire',KEYS[1],ARGV[2]) return 0"
		freeOwn        = "local p=redis.call('pttl',KEYS[1]) if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[1]) return p end return 'none'"
	)
	over := quorum.State{Lapsed: true, Token: "t"}
	eval := func(body, words string) []string { return append([]string{"EVAL", body}, strings.Fields(words)...) }
	for _, tt := range []struct {
		words     []string
		op, reply string
	}{
		{strings.Fields("SET k u GET PX 10000"), "extend k t->u 10s", "null"},
		{strings.Fields("SET k t NX GET PX 10000"), "extend k t 10s", "null"},
		{strings.Fields("SET k u NX GET PX 10000"), "read k", "$t"},
		{strings.Fields("GETDEL k"), "release k t", "null"},
		{strings.Fields("GETEX k PX 10000"), "read k", "null"},
		{eval(addOrTake, "1 k t 10000"), "extend k t 10s", "$new"},
		{eval(addToOwn, "1 k t 10000"), "read k", "$none"},
		{eval(freeOwn, "1 k t"), "release k t", "$none"},
		{eval(takeElseExtend, "1 k u 10000"), "extend k t 10s", ":0"},
	} {
		in := New(rejecting(), func() int64 { return fakeNow })
		var args [][]byte
		for _, w := range tt.words {
			args = append(args, []byte(w))
		}
		req, _ := in.Understand(3, args)
		op, reply := decideOn(t, req, over, quorum.Won)
		if op != tt.op || reply != tt.reply {
			t.Errorf("%s: got %s, %s, want %s, %s", tt.words, op, reply, tt.op, tt.reply)
		}
	}
}

// TestV15OverOfSeveral is the same for several keys. A reply is of the changes that are made.
func TestV15OverOfSeveral(t *testing.T) {
	const (
		freeIfOther   = "EVAL if redis.call('get',KEYS[2])==ARGV[1] then redis.call('del',KEYS[1]) return 1 end return 0"
		freeIfNoOther = "EVAL if redis.call('exists',KEYS[2])==0 then redis.call('del',KEYS[1]) return 1 end return 0"
		takeIfNoOther = "EVAL if redis.call('exists',KEYS[1])==0 then redis.call('set',KEYS[2],ARGV[1],'PX',ARGV[2]) return 1 end return 0"
		takeIfNotBoth = "EVAL if redis.call('exists',KEYS[1],KEYS[2])==2 then return 0 end redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) redis.call('set',KEYS[2],ARGV[1],'PX',ARGV[2]) return 1"
		otherBranch   = "EVAL if redis.call('get',KEYS[2])==ARGV[1] then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 2 elseif redis.call('exists',KEYS[1])==0 then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1 end return 0"
	)
	in := New(rejecting(), func() int64 { return fakeNow })
	absent := quorum.State{}
	over, others := quorum.State{Lapsed: true, Token: "t"}, quorum.State{Lapsed: true, Token: "u"}
	for _, tt := range []struct {
		command, changes, reply string
		k, l                    quorum.State
	}{
		{"SET l u NX PX 10000|DEL k", "k deleted", "[null :0]", over, over},
		{"GET k|SET k u PX 10000|SET l u NX PX 10000", "k=u 10s", "[null +OK null]", over, over},
		{"GET k|SET k u PX 10000|SET l u PX 10000", "k=u 10s, l=u 10s", "[null +OK +OK]", over, over},
		{"PEXPIRE k 10000|GET l", "", "[:0 null]", over, over},
		{"GET l|DEL k", "k deleted", "[null :0]", over, over},
		{"SETNX l u|EXPIRE l 10|DEL k", "k deleted, l=t 10s", "[:0 :1 :0]", over, over},
		{"SETNX k u|EXPIRE k 10|SET l u PX 10000", "k=t 10s, l=u 10s", "[:0 :1 +OK]", over, absent},
		{freeIfOther, "", ":0", over, others},
		{freeIfNoOther, "", ":0", over, over},
		{takeIfNoOther, "", ":0", over, over},
		{takeIfNotBoth, "", ":0", over, over},
		{takeIfNotBoth, "k=u 10s, l=u 10s", ":1", over, absent},
		{freeIfNoOther, "k deleted", ":1", over, absent},
		{otherBranch, "", ":0", over, others},
		{otherBranch, "", ":0", over, absent},
	} {
		var req Request
		if script, ok := strings.CutPrefix(tt.command, "EVAL "); ok {
			req, _ = in.Understand(3, append([][]byte{[]byte("EVAL"), []byte(script)}, line("2 k l u 10000")...))
		} else {
			req = in.Exec(3, nil, queue(strings.Split(tt.command, "|")...))
		}
		states := map[string]quorum.State{"k": tt.k, "l": tt.l}
		var found []quorum.State
		for _, key := range req.Ops[0].Keys {
			found = append(found, states[key])
		}
		var did []string
		for _, c := range req.Ops[0].DecideAll(found) {
			if c.Delete {
				did = append(did, c.Key+" deleted")
				continue
			}
			did = append(did, c.Key+"="+c.Token+" "+c.TTL.String())
		}
		slices.Sort(did)
		reply := show(req.Reply([]*quorum.Outcome{{Verdict: quorum.Won, Done: quorum.DecideAll}}))
		if got := strings.Join(did, ", "); got != tt.changes || reply != tt.reply {
			t.Errorf("%s: got %q and %s, want %q and %s", tt.command, got, reply, tt.changes, tt.reply)
		}
	}
}
