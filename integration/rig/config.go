package rig

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config is the config.hcl of a test. What is zero is left out of the file.
type Config struct {
	Address  string // a free port of 127.0.0.1 if empty
	Admin    string // likewise
	Password string
	Listen   string // more lines for the block listen

	Timeout     time.Duration
	RetryBudget time.Duration
	MaxTTL      time.Duration
	Handover    time.Duration
	NoExpiry    string
	Quorum      string // more lines for the block quorum

	Masters []string // addresses
	Names   []string // of the masters; a, b, c, ... if nil
	// Required is the name of the required master, if there is one.
	Required string
	// MasterUser and MasterPassword are what the masters ask for.
	MasterUser     string
	MasterPassword string

	LogLevel string

	// Ulimit are arguments of ulimit under which redlockd runs: "-n 64".
	Ulimit string
}

// Over is what most tests use: the masters, and a timeout that a busy machine
// does not reach by itself.
func Over(masters []*Master) Config {
	cfg := Config{Timeout: 500 * time.Millisecond}
	for _, m := range masters {
		cfg.Masters = append(cfg.Masters, m.Addr)
	}
	return cfg
}

// name is that of the i-th master.
func (c Config) name(i int) string {
	if c.Names != nil {
		return c.Names[i]
	}
	return string(rune('a' + i))
}

const anyPort = "127.0.0.1:0"

// NoAddress is the address of one that has a Unix socket only.
const NoAddress = "none"

// Text is the file.
func (c Config) Text() string {
	var b strings.Builder
	line := func(name string, value any, zero bool) {
		if !zero {
			fmt.Fprintf(&b, "  %s = %q\n", name, value)
		}
	}
	address := cmp.Or(c.Address, anyPort)
	if address == NoAddress {
		address = ""
	}
	fmt.Fprintf(&b, "listen {\n  address = %q\n", address)
	line("password", c.Password, c.Password == "")
	fmt.Fprintf(&b, "%s\n}\n\nquorum {\n", c.Listen)
	line("timeout", c.Timeout, c.Timeout == 0)
	line("retry_budget", c.RetryBudget, c.RetryBudget == 0)
	line("max_ttl", c.MaxTTL, c.MaxTTL == 0)
	line("handover", c.Handover, c.Handover == 0)
	line("no_expiry", c.NoExpiry, c.NoExpiry == "")
	fmt.Fprintf(&b, "%s\n}\n\n", c.Quorum)
	for i, addr := range c.Masters {
		fmt.Fprintf(&b, "master %q {\n  address = %q\n", c.name(i), addr)
		line("username", c.MasterUser, c.MasterUser == "")
		line("password", c.MasterPassword, c.MasterPassword == "")
		if c.Required != "" && c.name(i) == c.Required {
			fmt.Fprintf(&b, "  required = true\n")
		}
		fmt.Fprintf(&b, "}\n")
	}
	fmt.Fprintf(&b, "\nadmin {\n  address = %q\n}\n\nlog {\n", cmp.Or(c.Admin, anyPort))
	line("level", c.LogLevel, c.LogLevel == "")
	fmt.Fprintf(&b, "}\n")
	return b.String()
}

// write puts the file into a folder.
func (c Config) write(tb TB, dir string) string {
	tb.Helper()
	path := filepath.Join(dir, "config.hcl")
	if err := os.WriteFile(path, []byte(c.Text()), 0o600); err != nil {
		tb.Fatalf("%v", err)
	}
	return path
}
