package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/certtest"
	"github.com/redlockd/redlockd/proxy/users"
	"github.com/redlockd/redlockd/quorum"
)

const masters = `
master "a" { address = "10.0.0.1:6379" }
master "b" { address = "10.0.0.2:6379" }
master "c" { address = "10.0.0.3:6379" }
`

// write writes text to a new file and returns its name.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.hcl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// said returns what a user reads about a wrong file, with words joined by single spaces
// since the printer wraps lines.
func said(t *testing.T, err error) string {
	t.Helper()
	var file *Error
	if !errors.As(err, &file) {
		t.Fatalf("error is %v, want an *Error", err)
	}
	var out bytes.Buffer
	file.Print(&out)
	return strings.Join(strings.Fields(out.String()), " ")
}

// refused requires a file to be wrong, and all of want to be reported.
func refused(t *testing.T, file string, want []string) {
	t.Helper()
	_, _, err := Load(write(t, file), "")
	if err == nil {
		t.Fatal("accepted")
	}
	got := said(t, err)
	for _, want := range want {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q:\n%s", want, got)
		}
	}
}

func TestSampleIsTheDefaults(t *testing.T) {
	got, warned, err := Load("../../config.hcl", "")
	if err != nil {
		t.Fatalf("config.hcl: %s", said(t, err))
	}
	if len(warned) > 0 {
		t.Errorf("config.hcl is warned about: %q", warned)
	}
	if n := len(got.Quorum.Masters); n != 5 {
		t.Errorf("config.hcl has %d masters, want 5", n)
	}
	want := Default()
	want.Quorum.Masters = got.Quorum.Masters
	// The file has a block admin, so that whoever tries it has the page.
	want.Admin = &Admin{Address: defaultAdminAddress}
	if len(got.Commands.Deny) == 0 {
		got.Commands.Deny = want.Commands.Deny
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config.hcl differs from the defaults:\n got %+v\nwant %+v", got, want)
	}
}

// TestSampleShowsEverySetting takes the settings of a file that sets all.
func TestSampleShowsEverySetting(t *testing.T) {
	sample, err := os.ReadFile("../../config.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(everything, "\n") {
		name, _, found := strings.Cut(strings.TrimSpace(line), " = ")
		if found && !bytes.Contains(sample, []byte(name+" ")) {
			t.Errorf("config.hcl does not show %s", name)
		}
	}
}

const everything = `
listen {
  address = "0.0.0.0:7777"
  unix = "/run/redlockd/redlockd.sock"
  mode = "0600"
  step_aside = "3s"
  password = env("REDLOCKD_TEST_PASSWORD")
  max_clients = 1
  max_command_bytes = 2048
  max_arguments = 33
  max_pipeline = 4
  max_pending = 5
  max_memory = 1048577
  max_key_bytes = 6
  max_token_bytes = 7
  user "orders" {
    password = ["a", env("REDLOCKD_TEST_PASSWORD")]
    keys = ["locks:orders:*"]
    channels = ["c*"]
    operations = ["acquire", "read"]
  }
  idle_timeout = "5s"
  login_timeout = "6s"
  write_timeout = "7s"
  slowlog_slower_than = "9s"
  drain = "8s"
  tls {
    cert = env("REDLOCKD_TEST_CERT")
    key = env("REDLOCKD_TEST_KEY")
    client_ca = env("REDLOCKD_TEST_CA")
  }
}
quorum {
  timeout = "9ms"
  clock_drift = 0.05
  max_ttl = "11s"
  retry_budget = "12ms"
  no_expiry = "max_ttl"
  handover = "13s"
  deny = ["del", "set"]
}
master "x" {
  address = "10.0.0.1:6379"
  username = "u"
  password = "p"
  required = true
  allow_eviction = true
  tls {
    ca = env("REDLOCKD_TEST_CA")
    cert = env("REDLOCKD_TEST_CERT")
    key = env("REDLOCKD_TEST_KEY")
    server_name = "locks.example"
  }
}
admin {
  address = "0.0.0.0:7778"
  password = "q"
  pprof = true
  patterns = ["locks:orders:*", "locks:*"]
  tls {
    cert = env("REDLOCKD_TEST_CERT")
    key = env("REDLOCKD_TEST_KEY")
  }
}
log {
  level = "debug"
  json = true
}
`

// setEverything sets the variables of everything.
func setEverything(t *testing.T) certtest.Files {
	t.Helper()
	files := certtest.NewAuthority(t, "everything").Files(t, "locks.example")
	t.Setenv("REDLOCKD_TEST_PASSWORD", "secret")
	t.Setenv("REDLOCKD_TEST_CERT", files.Cert)
	t.Setenv("REDLOCKD_TEST_KEY", files.Key)
	t.Setenv("REDLOCKD_TEST_CA", files.CA)
	return files
}

func TestEverySettingArrives(t *testing.T) {
	files := setEverything(t)
	got, warned, err := Load(write(t, everything), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	want := Default()
	want.Proxy.Address, want.Proxy.Passwords = "0.0.0.0:7777", []string{"secret"}
	want.Proxy.Unix, want.Proxy.Mode, want.Proxy.StepAside = "/run/redlockd/redlockd.sock", 0o600, 3*time.Second
	want.Proxy.MaxClients, want.Proxy.MaxCommandBytes = 1, 2048
	want.Proxy.MaxArguments, want.Proxy.MaxPipeline = 33, 4
	want.Proxy.MaxPending, want.Proxy.MaxMemory = 5, 1048577
	want.Proxy.MaxKeyBytes, want.Proxy.MaxTokenBytes = 6, 7
	want.Proxy.Users = []users.User{{Name: "orders", Passwords: []string{"a", "secret"}, Keys: []string{"locks:orders:*"},
		Channels: []string{"c*"}, Operations: commands.MayAcquire | commands.MayRead}}
	want.Proxy.IdleTimeout, want.Proxy.LoginTimeout = 5*time.Second, 6*time.Second
	want.Proxy.WriteTimeout, want.Drain = 7*time.Second, 8*time.Second
	want.Proxy.SlowerThan = 9 * time.Second
	want.Quorum.Timeout, want.Quorum.ClockDrift = 9*time.Millisecond, 0.05
	want.Quorum.MaxTTL, want.Commands.MaxTTL = 11*time.Second, 11*time.Second
	want.Quorum.RetryBudget = 12 * time.Millisecond
	want.Quorum.Handover = 13 * time.Second
	want.Commands.NoExpiry, want.Commands.Deny = commands.MaxTTLInstead, []string{"del", "set"}
	want.Quorum.Masters = []quorum.Master{
		{Name: "x", Address: "10.0.0.1:6379", Username: "u", Password: "p", Required: true, AllowEviction: true},
	}
	want.Log = Log{Level: "debug", JSON: true}
	want.Proxy.Patterns = []string{"locks:orders:*", "locks:*"}
	want.Admin = &Admin{Address: "0.0.0.0:7778", Password: "q", Pprof: true}
	want.TLS["listen"] = certificates.Files{Cert: files.Cert, Key: files.Key, CA: files.CA}
	want.TLS["admin"] = certificates.Files{Cert: files.Cert, Key: files.Key}
	want.TLS["master.x"] = certificates.Files{Cert: files.Cert, Key: files.Key, CA: files.CA, ServerName: "locks.example"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "1 masters") {
		t.Errorf("warned %q, want that about one master", warned)
	}
}

func TestWrongFiles(t *testing.T) {
	t.Setenv("REDLOCKD_TEST_EMPTY", "")
	tests := []struct {
		name, file string
		want       []string // all of them, in the text that a user reads
	}{
		{"syntax", "listen {\n", []string{"test.hcl line 1", "1: listen {"}},
		{"unknown block", "lisen {}" + masters, []string{"line 1", "1: lisen {}", `Did you mean "listen"?`}},
		{"unknown setting", "quorum {\n  timout = \"50ms\"\n}" + masters,
			[]string{"line 2", `2: timout = "50ms"`, `Did you mean "timeout"?`}},
		{"setting outside", "address = 1" + masters, []string{"line 1", "1: address = 1"}},
		{"two blocks", "log {}\nlog {}" + masters, []string{"line 2", "Duplicate block log"}},
		{"handover too short", "quorum {\n handover = \"10ms\"\n}" + masters, []string{"line 2", "handover is 10ms, expected timeout + retry_budget = 250ms to 24h"}},
		{"two required", "master \"y\" {\n address = \"h:1\"\n required = true\n}\nmaster \"z\" {\n address = \"i:1\"\n required = true\n}",
			[]string{"line 5", `masters ["y" "z"] are required, expected one at most`}},
		{"number for a duration", "quorum {\n timeout = 50\n}" + masters,
			[]string{"line 2", "2: timeout = 50", "timeout: expected a duration", `"50ms"`}},
		{"no unit", "quorum {\n timeout = \"50\"\n}" + masters, []string{"line 2", "a duration with its unit"}},
		{"string for a number", "listen {\n max_clients = \"7\"\n}" + masters, []string{"line 2", "expected a whole number"}},
		{"part of a client", "listen {\n max_clients = 1.5\n}" + masters, []string{"line 2", "expected a whole number"}},
		{"null", "listen {\n password = null\n}" + masters, []string{"line 2", "expected a string"}},
		{"string for a boolean", "log {\n json = \"yes\"\n}" + masters, []string{"line 2", "expected true or false"}},
		{"string for a list", "quorum {\n deny = \"del\"\n}" + masters, []string{"line 2", "expected a list"}},
		{"numbers in a list", "quorum {\n deny = [1]\n}" + masters, []string{"line 2", "expected a list of strings"}},
		{"unknown level", "log {\n level = \"loud\"\n}" + masters, []string{"line 2", `"loud"`, `"trace", "debug", "info", "warn", "error"`}},
		{"unknown no_expiry", "quorum {\n no_expiry = \"never\"\n}" + masters, []string{"line 2", `one of "reject", "max_ttl"`}},
		{"unset variable", "listen {\n password = env(\"REDLOCKD_TEST_UNSET\")\n}" + masters, []string{"line 2", "REDLOCKD_TEST_UNSET is not set"}},
		{"empty variable", "listen {\n password = env(\"REDLOCKD_TEST_EMPTY\")\n}" + masters, []string{"line 2", "REDLOCKD_TEST_EMPTY is not set, or empty"}},
		{"package proxy", "listen {\n max_clients = 0\n}" + masters, []string{"line 2", "max_clients is 0, expected at least 1"}},
		{"package quorum", "quorum {\n clock_drift = 0.5\n}" + masters, []string{"line 2", "clock_drift is 0.5, expected 0 to 0.1"}},
		{"package commands", "quorum {\n deny = [\"lpush\", \"get\"]\n}" + masters, []string{"line 2", `deny names "lpush"`, `deny names "get"`}},
		{"ttl and timeout", "quorum {\n timeout = \"50ms\"\n max_ttl = \"80ms\"\n}" + masters, []string{"line 2", "timeout is 50ms and max_ttl is 80ms"}},
		{"drain", "listen {\n drain = \"100ms\"\n}" + masters, []string{"line 2", "drain is 100ms and timeout + retry_budget is 250ms"}},
		{"no masters", "log {}\n", []string{"line 1", "there are 0 masters"}},
		{"no name", "master {\n address = \"h:1\"\n}", []string{"line 1", "1: master {", "name"}},
		{"no address", "master \"a\" {}", []string{"line 1", "master \"a\": expected address"}},
		{"no port", "master \"a\" { address = \"10.0.0.1\" }", []string{"line 1", `"10.0.0.1" is not host:port`}},
		{"port too great", "master \"a\" { address = \"h:70000\" }", []string{"line 1", "from 1 to 65535"}},
		{"one name", "master \"a\" { address = \"h:1\" }\nmaster \"a\" { address = \"h:2\" }", []string{"line 2", `two masters are named "a"`}},
		{"one name with a quote", "master \"a\\\"b\" { address = \"h:1\" }\nmaster \"a\\\"b\" { address = \"h:2\" }\nlog {}\n", []string{"line 2", `two masters are named "a\"b"`}},
		{"two lines in a name", "master \"a\\nb\" { address = \"h:1\" }\nlog {}\n", []string{"line 1", `a master's name is "a\nb", expected 1 to 64 printable characters`}},
		{"two lines in a name, no address", "master \"a\\nb\" {}\nlog {}\n", []string{"line 1", `master "a\nb": expected address`}},
		{"two lines in an address", "master \"a\" { address = \"h\\nb:1\" }\nlog {}\n", []string{"line 1", `"h\nb:1" is not host:port`}},
		{"two lines in a listener's address", "listen {\n address = \"h\\nb:1\"\n password = \"p\"\n}" + masters, []string{"line 2", `"h\nb:1" is not host:port`}},
		{"a key longer than a command", "listen {\n max_command_bytes = 8192\n max_key_bytes = 8193\n}" + masters, []string{"line 3", "max_key_bytes is 8193 and max_command_bytes is 8192"}},
		{"a token longer than a command", "listen {\n max_command_bytes = 1024\n max_key_bytes = 1024\n}" + masters, []string{"line 1", "max_token_bytes is 4096 and max_command_bytes is 1024"}},
		{"one address", "master \"a\" { address = \"h:1\" }\nmaster \"b\" { address = \"h:1\" }", []string{"line 2", `master "b" at h:1 is the same server as master "a" at h:1`}},
		{"no password", "listen {\n address = \"0.0.0.0:6380\"\n}" + masters, []string{"line 2", "listen.address is 0.0.0.0:6380", "listen.password", "127.0.0.1"}},
		{"no password, any host", "listen {\n address = \":6380\"\n}" + masters, []string{"line 2", "listen.password"}},
		{"listen port", "listen {\n address = \"127.0.0.1:http\"\n}" + masters, []string{"line 2", "is not a number"}},
		{"no address and no socket", "listen {\n address = \"\"\n}" + masters, []string{"line 2", `"" is not host:port`}},
		{"a path with a line break", "listen {\n unix = \"/run/a\\nb\"\n}" + masters, []string{"line 2", `"/run/a\nb" has characters that are not shown`}},
		{"a path with a space", "listen {\n unix = \"/run/a b\"\n}" + masters, []string{"line 2", "or spaces"}},
		{"a socket without a file", "listen {\n unix = \"@redlockd\"\n}" + masters, []string{"line 2", `"@redlockd" is no path of a file`}},
		{"a path that is too long", "listen {\n unix = \"/" + strings.Repeat("x", 103) + "\"\n}" + masters, []string{"line 2", "has 104 bytes, expected at most 103"}},
		{"a mode that is none", "listen {\n mode = \"0680\"\n}" + masters, []string{"line 2", `mode: expected permissions in octal digits in quotes, as "0660"`}},
		{"a mode with more than permissions", "listen {\n mode = \"4660\"\n}" + masters, []string{"line 2", "mode: expected permissions"}},
		{"aside too soon", "listen {\n step_aside = \"100ms\"\n}" + masters, []string{"line 2", "step_aside is 100ms, expected 0s, which is never, or at least 500ms"}},
		{"too many patterns", "admin {\n patterns = [" + strings.Repeat("\"a\", ", 17) + "]\n}" + masters, []string{"line 2", "admin.patterns: there are 17, expected at most 16"}},
		{"an empty pattern", "admin {\n patterns = [\"\"]\n}" + masters, []string{"line 2", `"" is empty`}},
		{"a pattern with a line break", "admin {\n patterns = [\"a\\nb\"]\n}" + masters, []string{"line 2", `"a\nb" is empty, longer`}},
		{"one pattern twice", "admin {\n patterns = [\"a*\", \"b\", \"a*\"]\n}" + masters, []string{"line 2", `"a*" is there twice`}},
		{"the pattern of the rest", "admin {\n patterns = [\"others\"]\n}" + masters, []string{"line 2", `"others" is there twice, or the name`}},
		{"several", "listen {\n max_clients = 0\n drain = 7\n}\nlog {\n level = \"x\"\n}\nmaster \"a\" {}\nmaster \"b\" { address = 7 }",
			[]string{"line 2", "max_clients is 0", "line 3", "drain: expected", "line 6", "level: expected", "line 8", `master "a"`, "line 9", "address: expected a string"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			refused(t, test.file, test.want)
		})
	}
}

// TestOneProblemIsSaidOnce: one problem is not reported as several.
func TestOneProblemIsSaidOnce(t *testing.T) {
	for _, file := range []string{
		"master \"a\" { address = 7 }",
		"master \"a\" {}",
		"quorum {\n timeout = 7\n}" + masters,
		"listen {\n address = 7\n}" + masters,
		"quorum {\n max_ttl = \"25h\"\n}" + masters,
		"listen {\n address = \"x\"\n}" + masters,
		"listen {\n address = \":6380\"\n password = 7\n}" + masters,
		"listen {\n address = \":6380\"\n password_file = 7\n}" + masters,
		"quorum {\n timeout = 7\n max_ttl = \"60ms\"\n}" + masters,
		"quorum {\n retry_budget = 7\n}\nlisten {\n drain = \"60ms\"\n}" + masters,
		"listen {\n address = 7\n}\nmaster \"a\" { address = \"127.0.0.1:6380\" }",
	} {
		_, _, err := Load(write(t, file), "")
		if got := said(t, err); strings.Count(got, "Error:") != 1 {
			t.Errorf("%q gives not one problem:\n%s", file, got)
		}
	}
}

// TestOneWrongSettingIsSaidOnce: a setting that cannot be read, whichever, is reported, and
// nothing that follows from it.
func TestOneWrongSettingIsSaidOnce(t *testing.T) {
	setEverything(t)
	lines := strings.SplitAfter(everything, "\n")
	for i, line := range lines {
		name, _, found := strings.Cut(line, " = ")
		if !found {
			continue
		}
		wrong := strings.Join(lines[:i], "") + name + " = {}\n" + strings.Join(lines[i+1:], "")
		_, _, err := Load(write(t, wrong), "")
		if err == nil {
			t.Errorf("line %d, %s = {}: accepted", i+1, strings.TrimSpace(name))
		} else if got := said(t, err); strings.Count(got, "Error:") != 1 || !strings.Contains(got, fmt.Sprintf("line %d,", i+1)) {
			t.Errorf("line %d, %s = {}, gives not one problem there:\n%s", i+1, strings.TrimSpace(name), got)
		}
	}
}

// TestSocketAlone: without an address only the socket is served, and no password is asked for.
func TestSocketAlone(t *testing.T) {
	cfg, _, err := Load(write(t, "listen {\n address = \"\"\n unix = \"/run/r.sock\"\n}"+masters), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	var out strings.Builder
	if err := cfg.WriteSummary(&out, "f", nil); err != nil {
		t.Fatal(err)
	}
	if want := "listens on /run/r.sock (mode 0660), without a password"; !strings.Contains(out.String(), want) {
		t.Errorf("does not say %q: %s", want, out.String())
	}
}

func TestListenFlagWins(t *testing.T) {
	name := write(t, "listen {\n address = \"0.0.0.0:6380\"\n}"+masters)
	cfg, _, err := Load(name, "127.0.0.1:7000")
	if err != nil {
		t.Fatal(said(t, err))
	}
	if cfg.Proxy.Address != "127.0.0.1:7000" {
		t.Errorf("address is %s, want the flag's", cfg.Proxy.Address)
	}
	name = write(t, "listen {\n address = \"127.0.0.1:6380\"\n}"+masters)
	if _, _, err = Load(name, "0.0.0.0:7000"); err == nil {
		t.Fatal("a flag may leave loopback without a password")
	}
	if got := said(t, err); !strings.Contains(got, "0.0.0.0:7000") {
		t.Errorf("does not name the flag's address: %s", got)
	}
}

func TestEvenNumberIsWarnedAbout(t *testing.T) { // V12
	_, warned, err := Load(write(t, masters+`master "d" { address = "10.0.0.4:6379" }`), "")
	if err != nil {
		t.Fatal(said(t, err))
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "4 masters can lose 1") {
		t.Errorf("warned %q, want one about 4 masters", warned)
	}
}

func TestPasswordOpensTheAddress(t *testing.T) {
	name := write(t, "listen {\n address = \":0\"\n password = \"p\"\n}"+masters)
	if _, _, err := Load(name, ""); err != nil {
		t.Errorf("refused: %s", said(t, err))
	}
}

// TestFilesAreSmall: a file that is far too long, or never ends, is not read to its end.
func TestFilesAreSmall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "big")
	big := func(size int) string {
		if err := os.WriteFile(name, []byte(strings.Repeat("#\n", size/2+1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	if _, _, err := Load(big(maxFile), ""); err == nil || !strings.Contains(err.Error(), "is longer than 1048576 bytes") {
		t.Errorf("a long configuration: %v", err)
	}
	_, _, err := Load(write(t, listening(`password_file = "`+big(maxPasswordFile)+`"`)), "")
	if err == nil || !strings.Contains(said(t, err), "is longer than 65536 bytes") {
		t.Errorf("a long password_file: %v", err)
	}
	if _, _, err := Load("/dev/zero", ""); err == nil || !strings.Contains(err.Error(), "is longer than") {
		t.Errorf("/dev/zero: %v", err)
	}
}
