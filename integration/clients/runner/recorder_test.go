package main

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n":                          "+OK",
		"$-1\r\n":                          "$-1",
		"_\r\n":                            "_",
		"$4\r\na\r\nb\r\n":                 `$"a\r\nb"`,
		"*2\r\n:1\r\n*-1\r\n":              "*2 :1 *-1",
		"%1\r\n+proto\r\n:3\r\n":           "%1 +proto :3",
		">2\r\n+pong\r\n$0\r\n\r\n":        `>2 +pong $""`,
		"=6\r\ntxt:ab\r\n":                 `="txt:ab"`,
		"-NOSCRIPT No matching script\r\n": "-NOSCRIPT No matching script",
	} {
		got, err := readReply(bufio.NewReader(strings.NewReader(in)))
		if err != nil || got != want {
			t.Errorf("%q is read as %q, %v; want %q", in, got, err, want)
		}
	}
}

// TestRecorder sends commands that come in pieces and together to a server
// that answers each byte with itself.
func TestRecorder(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					if strings.TrimSpace(line) == "x" {
						_, _ = c.Write([]byte("+OK\r\n"))
					}
				}
			}()
		}
	}()
	rec, err := newRecorder(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", rec.addr)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for _, piece := range []string{"*2\r\n$3\r\nGET\r", "\n$1\r\nx\r\n", "*1\r\n$1\r\nx\r\n*1\r\n$1\r\nx\r\n"} {
		if _, err := c.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if line, err := in.ReadString('\n'); line != "+OK\r\n" {
			t.Fatalf("through the recorder: %q, %v", line, err)
		}
	}
	c.Close()
	var words []string
	replies := 0
	for _, s := range rec.stop() {
		if s.words != nil {
			words = append(words, strings.Join(s.words, " "))
		} else if s.reply == "+OK" {
			replies++
		}
	}
	if want := []string{"GET x", "x", "x"}; !slices.Equal(words, want) || replies != 3 {
		t.Errorf("recorded %q and %d replies, want %q and 3", words, replies, want)
	}
}
