package commands

import (
	"testing"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// watch is one watched key of database 3, with what was read.
func watch(key string, o *quorum.Outcome) Watched {
	return Watched{DB: 3, Key: key, Outcome: o, Watch: new(quorum.Watch)}
}

func queue(commands ...string) (all [][][]byte) {
	for _, command := range commands {
		all = append(all, line(command))
	}
	return all
}

// StackExchange.Redis, redis++ and Drupal: WATCH, GET, MULTI, one command,
// EXEC.
func TestExecOnTheWatchedKey(t *testing.T) {
	for _, tt := range []struct {
		command string
		read    *quorum.Outcome
		end     *quorum.Outcome
		op      string
		want    string
	}{
		{"DEL k", held("t"), won(), "release k t", "[:1]"},
		{"UNLINK k", held("t"), won(), "release k t", "[:1]"},
		{"DEL k", held("t"), absent(), "release k t", "null array"},
		{"DEL k", held("t"), held("x"), "release k t", "null array"},
		{"DEL k", held("t"), changed(), "release k t", "null array"},
		{"DEL k", held("t"), undecided(), "release k t", noQuorum},
		{"DEL k", absent(), absent(), "read k", "[:0]"},
		{"DEL k", absent(), held("x"), "read k", "null array"},
		{"DEL k k", held("t"), won(), "release k t", "[:1]"},

		{"EXPIRE k 10", held("t"), won(), "extend k t 10s", "[:1]"},
		{"PEXPIRE k 1500", held("t"), won(), "extend k t 1.5s", "[:1]"},
		{"PEXPIRE k 1500", held("t"), held("x"), "extend k t 1.5s", "null array"},
		{"PEXPIRE k 1500", held("t"), undecided(), "extend k t 1.5s", noQuorum},
		{"PEXPIRE k 1500", absent(), absent(), "read k", "[:0]"},
		{"PEXPIRE k 0", held("t"), won(), "release k t", "[:1]"},

		{"SETEX k 2 n", held("t"), won(), "extend k t->n 2s", "[+OK]"},
		{"PSETEX k 20 t", held("t"), won(), "extend k t 20ms", "[+OK]"},
		{"PSETEX k 20 n", held("t"), absent(), "extend k t->n 20ms", "null array"},
		{"PSETEX k 20 n", absent(), won(), "acquire k n 20ms", "[+OK]"},
		{"PSETEX k 20 n", absent(), held("x"), "acquire k n 20ms", "null array"},
		{"SET k n PX 20", absent(), won(), "acquire k n 20ms", "[+OK]"},
		{"SET k n PX 20 XX", absent(), absent(), "read k", "[null]"},
		{"SET k n PX 20 XX", held("t"), won(), "extend k t->n 20ms", "[+OK]"},
		{"SET k n PX 20 NX", absent(), won(), "acquire k n 20ms", "[+OK]"},
		{"SET k n PX 20 NX", absent(), held("x"), "acquire k n 20ms", "null array"},
		{"SET k n PX 20 NX", held("t"), held("t"), "read k", "[null]"},
		{"SET k n PX 20 NX", held("t"), absent(), "read k", "null array"},

		{"GET k", held("t"), held("t"), "read k", "[$t]"},
		{"GET k", held("t"), held("x"), "read k", "null array"},
		{"GET k", held("t"), absent(), "read k", "null array"},
		{"GET k", absent(), absent(), "read k", "[null]"},
		{"PTTL k", held("t"), held("t"), "read k", "[:1500]"},

		{"DELEX k IFEQ t", held("t"), won(), "release k t", "[:1]"},
		{"DELEX k IFEQ t", held("x"), held("x"), "read k", "[:0]"},
		{"SET k t IFEQ t PX 9", held("t"), won(), "extend k t 9ms", "[+OK]"},
		{"SET k n IFEQ t PX 9", held("t"), won(), "extend k t->n 9ms", "[+OK]"},
		{"SET k n IFEQ t PX 9", absent(), absent(), "read k", "[null]"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			// What is guarded is not unconditional, so deny does not forbid it.
			in, _ := fakeWith(rejecting(deniable()...), nil, nil)
			w := watch("k", tt.read)
			req := in.Exec(3, []Watched{w}, queue(tt.command))
			if got := showOps(req.Ops); got != tt.op {
				t.Errorf("operation: got %q, want %q", got, tt.op)
			}
			for _, op := range req.Ops {
				if op.DB != 3 || len(op.Unless) != 1 || op.Unless[0] != w.Watch {
					t.Errorf("operation is in database %d with %d watches, want 3 with the one of WATCH", op.DB, len(op.Unless))
				}
			}
			if got := show(req.Reply([]*quorum.Outcome{tt.end})); tt.end != nil && got != tt.want {
				t.Errorf("reply: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExecOfAScript(t *testing.T) {
	again := meaningOf(script.AcquiresOrExtends, millis(9))
	for _, tt := range []struct {
		name    string
		meaning *script.Meaning
		read    *quorum.Outcome
		end     *quorum.Outcome
		op      string
		want    string
	}{
		{"release of ours", releasing(), held("t"), won(), "release k t", "[:1]"},
		{"release of ours, gone", releasing(), held("t"), absent(), "release k t", "null array"},
		{"release of another's", releasing(), held("x"), held("x"), "read k", "[:0]"},
		{"acquire or extend, absent", again, absent(), won(), "acquire k t 9ms", "[+absent]"},
		{"acquire or extend, ours", again, held("t"), won(), "extend k t 9ms", "[+ours]"},
		{"acquire or extend, another's", again, held("x"), held("x"), "read k", "[+other]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(rejecting(), tt.meaning, nil)
			req := in.Exec(3, []Watched{watch("k", tt.read)}, queue("EVAL s 1 k t"))
			if got := showOps(req.Ops); got != tt.op {
				t.Errorf("operation: got %q, want %q", got, tt.op)
			}
			if got := show(req.Reply([]*quorum.Outcome{tt.end})); got != tt.want {
				t.Errorf("reply: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExecThatLooksFirst(t *testing.T) {
	for _, tt := range []struct {
		name      string
		state     quorum.State
		end       quorum.Verdict
		op, reply string
	}{
		{"as it was", found("t", millis(9)), quorum.Won, "release k t", "[$t]"},
		{"as it was, then moved", found("t", millis(9)), quorum.Absent, "release k t", "null array"},
		{"another's", found("x", millis(9)), quorum.Won, "read k", "null array"},
		{"gone", quorum.State{}, quorum.Won, "read k", "null array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(rejecting(), nil, nil)
			req := in.Exec(3, []Watched{watch("k", held("t"))}, queue("GETDEL k"))
			op, reply := decideOn(t, req, tt.state, tt.end)
			if op != tt.op || reply != tt.reply {
				t.Errorf("got %s, %s, want %s, %s", op, reply, tt.op, tt.reply)
			}
		})
	}
}

func TestExecThatMayNotEvenLook(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	req := in.Exec(3, []Watched{watch("k", held("t"))}, queue("GETDEL k"))
	if got := show(req.Reply([]*quorum.Outcome{changed()})); got != "null array" {
		t.Errorf("got %s, want null array", got)
	}
}

func TestExecWithoutWatch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		queue [][][]byte
		outs  []*quorum.Outcome
		ops   string
		want  string
	}{
		{"nothing queued", nil, nil, "", "[]"},
		{"one command", queue("SET k t NX PX 9"), []*quorum.Outcome{won()}, "acquire k t 9ms", "[+OK]"},
		{"one command, held", queue("SET k t NX PX 9"), []*quorum.Outcome{held("x")}, "acquire k t 9ms", "[null]"},
		{"one command, undecided", queue("DEL k"), []*quorum.Outcome{undecided()}, "remove k", noQuorum},
		{"one command on two keys", queue("MGET k l"), []*quorum.Outcome{held("x"), absent()}, "read k, read l", "[[$x null]]"},
		{"a bad option", queue("SET k t FOO"), nil, "", syntax},
		{"a bad number", queue("SET k t PX 0"), nil, "", badSet},
		{"a command of no lock", queue("SCRIPT EXISTS x"), nil, "", "[[:0]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(rejecting(), nil, nil)
			req := in.Exec(3, nil, tt.queue)
			if got := showOps(req.Ops); got != tt.ops {
				t.Errorf("operations: got %q, want %q", got, tt.ops)
			}
			if got := show(req.Reply(tt.outs)); got != tt.want {
				t.Errorf("reply: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExecRefusedOrChanged(t *testing.T) {
	const other = "-ERR redlockd runs EXEC only in the database of the watched keys, nothing was done"
	elsewhere := watch("k", held("t"))
	elsewhere.DB = 1
	for _, tt := range []struct {
		name    string
		watched []Watched
		queue   [][][]byte
		want    string
	}{
		{"the watched key could not be read", []Watched{watch("k", undecided())}, queue("DEL k"), noQuorum},
		{"one of the watched could not be read", []Watched{watch("k", held("t")), watch("l", undecided())}, nil, noQuorum},
		{"nothing queued", []Watched{watch("k", held("t"))}, nil, "[]"},
		{"two databases", []Watched{watch("k", held("t")), elsewhere}, queue("DEL k"), other},
		{"another database", []Watched{elsewhere}, queue("DEL k"), other},
		{"watched twice, changed between", []Watched{watch("k", held("t")), watch("k", held("x"))}, queue("DEL k"), "null array"},
		{"a bad option", []Watched{watch("k", held("t"))}, queue("SET k t FOO"), syntax},
		{"redlockd's own key", []Watched{watch(quorum.MarkKey, absent())}, queue("DEL " + quorum.MarkKey), "-" + errMarkKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, _ := fakeWith(rejecting(), nil, nil)
			req := in.Exec(3, tt.watched, tt.queue)
			if len(req.Ops) != 0 {
				t.Errorf("operations: got %s, want none", showOps(req.Ops))
			}
			if got := show(req.Reply(nil)); got != tt.want {
				t.Errorf("reply: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExecOfSeveralReadsOfTheWatchedKey(t *testing.T) {
	in, _ := fakeWith(rejecting(), nil, nil)
	req := in.Exec(3, []Watched{watch("k", held("t"))}, queue("EXISTS k k"))
	for _, tt := range []struct {
		outs []*quorum.Outcome
		want string
	}{
		{[]*quorum.Outcome{held("t"), held("t")}, "[:2]"},
		{[]*quorum.Outcome{held("t"), absent()}, "null array"},
	} {
		if got := show(req.Reply(tt.outs)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
