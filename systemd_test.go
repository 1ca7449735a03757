package main

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestSystemdIsTold requires READY=1 when clients are served, even if no master can be
// reached, and STOPPING=1 when that ends.
func TestSystemdIsTold(t *testing.T) {
	away := "listen {\n address = \"127.0.0.1:0\"\n}\nmaster \"a\" {\n address = \"127.0.0.1:1\"\n}\n"
	for _, args := range [][]string{{"-dev", "-listen", "127.0.0.1:0"}, {"-config", write(t, away)}} {
		t.Run(args[0], func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notify")
			socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			t.Setenv("NOTIFY_SOCKET", path)
			want := func(state string) {
				t.Helper()
				_ = socket.SetReadDeadline(time.Now().Add(20 * time.Second))
				told := make([]byte, 100)
				if n, err := socket.Read(told); err != nil || string(told[:n]) != state {
					t.Errorf("systemd is told %q, %v, want %q", told[:n], err, state)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- run(ctx, args, io.Discard, io.Discard) }()
			want("READY=1")
			cancel()
			want("STOPPING=1")
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
