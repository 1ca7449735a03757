package faults

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestOKsBehindASplitAreRenewed is V2: StackExchange.Redis and others send all
// threads' commands over one connection. While one of them is tried again for ten
// timeouts, the OK of the others has to wait, and is no worse for it.
func TestOKsBehindASplitAreRenewed(t *testing.T) {
	t.Parallel()
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	cfg.Timeout, cfg.RetryBudget, cfg.MaxTTL = timeout, 10*timeout, 10*time.Second
	r := rig.StartRedlockd(t, cfg, masters)
	for i, m := range masters {
		if err := m.Client.Set(t.Context(), "stuck", fmt.Sprint(i/2), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Client().SetNX(t.Context(), "mine", "t", 10*time.Second).Err(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", r.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(rig.Patience))
	const behind = 50
	text := "SET stuck t NX PX 500\r\n"
	for i := range behind {
		text += fmt.Sprintf("SET behind:%d t NX PX 10000\r\n", i)
	}
	text += "SET mine u IFEQ t PX 10000\r\nMULTI\r\nSET both:1 t NX PX 10000\r\nSET both:2 t NX PX 10000\r\nEXEC\r\n"
	began := time.Now()
	fmt.Fprint(conn, text)
	replies := bufio.NewReader(conn)
	if _, err := readReply(replies); err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
		t.Errorf("the one that is split: %v", err)
	}
	first := time.Now() // the others are renewed about now, and not when they were taken
	if took := time.Since(began); took < 2*timeout {
		t.Fatalf("it was tried for %v, want some timeouts", took)
	}
	want := []string{}
	for range behind + 2 {
		want = append(want, "+OK")
	}
	want = append(want, "+QUEUED", "+QUEUED", "*2", "+OK", "+OK")
	for i, w := range want {
		line, err := replies.ReadString('\n')
		if line = strings.TrimSpace(line); err != nil || line != w {
			t.Fatalf("reply %d behind it is %q %v, want %q", i, line, err, w)
		}
	}
	for key, token := range map[string]string{"behind:0": "t", "behind:49": "t", "mine": "u", "both:1": "t", "both:2": "t"} {
		if left := r.Client().PTTL(t.Context(), key).Val(); left+time.Since(first) < 10*time.Second-2*timeout || left > 10*time.Second {
			t.Errorf("%s has %v left of 10s", key, left)
		}
		if got := r.Client().Get(t.Context(), key).Val(); got != token {
			t.Errorf("%s holds %q, want %q", key, got, token)
		}
	}
}
