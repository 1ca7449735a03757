package main

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/internal/config"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// reloading returns a reloader of a file with this text, and its log.
func reloading(t *testing.T, text string) (*reloader, *syncBuffer) {
	t.Helper()
	out := &syncBuffer{}
	name := write(t, text)
	cfg, _, err := config.Load(name, "")
	if err != nil {
		t.Fatal(err)
	}
	log, _ := newLogger(cfg.Log, out)
	r := newReloader(options{config: name}, cfg, log)
	r.masters, r.outcomes = &toldMasters{}, admin.NewReloads(time.Now())
	t.Cleanup(r.stop)
	return r, out
}

// toldMasters stands in for the quorum and stores the list that it receives.
type toldMasters struct {
	list []quorum.Master
	err  error
}

func (m *toldMasters) MayChangeMasters([]quorum.Master) error { return m.err }

func (m *toldMasters) ChangeMasters(list []quorum.Master) error {
	m.list = list
	return m.err
}

func TestReloadChangesTheMasters(t *testing.T) {
	r, out := reloading(t, masters)
	told := &toldMasters{}
	r.masters = told
	rewrite(t, r, masters+`master "d" { address = "10.0.0.4:6379" }`)
	if len(told.list) != 4 || told.list[3].Address != "10.0.0.4:6379" {
		t.Errorf("told %+v, want the list of the file", told.list)
	}
	told.err = errors.New("two at once")
	said := out.String()
	told.list, r.access = nil, func(proxy.Config) { t.Error("the users of a refused file are taken") }
	rewrite(t, r, "log {\n level = \"debug\"\n}"+masters)
	want := `[ERROR] redlockd: list of masters not changed: problem="two at once"` + "\n"
	if got := strings.TrimPrefix(out.String(), said); !strings.Contains(got, want) || !strings.Contains(got, "[ERROR] redlockd: configuration not reloaded, ") {
		t.Errorf("does not say why the masters stay: %s", got)
	} else if strings.Contains(got, "configuration reloaded") {
		t.Errorf("says of a refused list that it was reloaded: %s", got)
	}
	if told.list != nil || r.log.IsDebug() {
		t.Error("a part of a file with a refused list was taken")
	}
}

// TestReloadIsAMetric: the metrics tell whether the last reload went well, and when one last
// did, which the start counts as.
func TestReloadIsAMetric(t *testing.T) {
	r, _ := reloading(t, masters)
	began := time.Unix(1<<30, 0)
	r.outcomes = admin.NewReloads(began)
	want := func(good bool, since time.Time) {
		t.Helper()
		if g, at := r.outcomes.Last(); g != good || at.Before(since) || good == false && at.After(time.Now()) {
			t.Errorf("good: %v, and last at %v; want %v since %v", g, at, good, since)
		}
	}
	want(true, began)
	rewrite(t, r, "log {")
	want(false, began)
	before := time.Now()
	rewrite(t, r, masters)
	want(true, before)
	r.masters = &toldMasters{err: errors.New("two at once")}
	rewrite(t, r, masters)
	want(false, before)
}

// TestReloadReportsInTheOrderOfTheFile: as -check does, so that they are corrected from the
// top down.
func TestReloadReportsInTheOrderOfTheFile(t *testing.T) {
	r, out := reloading(t, masters)
	rewrite(t, r, "listen {\n max_clients = 0\n drain = \"1ms\"\n}\nquorum {\n clock_drift = 3\n handover = 7\n}\nlog {\n level = \"loud\"\n}"+masters)
	var lines []string
	for _, m := range regexp.MustCompile(`at=\S+\.hcl:(\d+)`).FindAllStringSubmatch(out.String(), -1) {
		lines = append(lines, m[1])
	}
	if got, want := strings.Join(lines, " "), "2 3 6 7 10"; got != want {
		t.Errorf("reports lines %s, want %s:\n%s", got, want, out.String())
	}
}

// noCertificates returns the Store of a file without blocks tls.
func noCertificates(t *testing.T, log hclog.Logger) *certificates.Store {
	t.Helper()
	certs, err := certificates.Open(nil, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	return certs
}

func rewrite(t *testing.T, r *reloader, text string) {
	t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.reload(noCertificates(t, r.log))
}

func TestReloadChangesTheLevel(t *testing.T) {
	r, out := reloading(t, masters)
	named := r.log.Named("proxy").With("session", 1)
	rewrite(t, r, "log {\n level = \"debug\"\n}"+masters)
	if !named.IsDebug() {
		t.Error("a package's logger is not at debug")
	}
	if got := out.String(); !strings.Contains(got, "configuration reloaded") || strings.Contains(got, "next start") {
		t.Errorf("says %s", got)
	}
	rewrite(t, r, masters)
	if named.IsDebug() || r.log.GetLevel() != hclog.Info {
		t.Error("a level that is taken out does not go back to info")
	}
}

func TestReloadNamesWhatWaits(t *testing.T) {
	r, out := reloading(t, "admin {\n password = \"first\"\n}"+masters)
	changed := "listen {\n password = \"second\"\n}\nquorum {\n max_ttl = \"6m\"\n}\nadmin {}\n" +
		strings.Replace(masters, "10.0.0.2", "10.0.0.9", 1) + `master "d" { address = "10.0.0.4:6379" }`
	rewrite(t, r, changed)
	want := `some changes take effect at the next start: settings="admin.password, quorum.max_ttl"`
	got := out.String()
	if !strings.Contains(got, want) || !strings.Contains(got, "[WARN]") {
		t.Errorf("does not say %s:\n%s", want, got)
	}
	if strings.Contains(got, "first") || strings.Contains(got, "second") {
		t.Errorf("shows a password: %s", got)
	}
}

func TestReloadRefusesAWrongFile(t *testing.T) {
	r, out := reloading(t, masters)
	rewrite(t, r, "log {\n level = \"debug\"\n}\nquorum {\n timeout = 7\n clock_drift = 3\n}"+masters)
	got := out.String()
	for _, want := range []string{"[ERROR]", "test.hcl:5", "timeout: expected a duration", "test.hcl:6", "clock_drift is 3", "the old one stays"} {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q:\n%s", want, got)
		}
	}
	if r.log.IsDebug() {
		t.Error("a part of a wrong file was taken")
	}
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.reload(noCertificates(t, r.log))
	if got := out.String(); !strings.Contains(got, "no such file") {
		t.Errorf("does not say that the file is gone:\n%s", got)
	}
}

func TestReloadHandsOnUsersAndLimits(t *testing.T) {
	r, out := reloading(t, masters)
	var got proxy.Config
	r.access = func(cfg proxy.Config) { got = cfg }
	rewrite(t, r, "listen {\npassword = \"second\"\nmax_clients = 7\n"+
		"user \"u\" {\n password = \"third\"\n keys = [\"k\"]\n operations = [\"read\"]\n}\n}\n"+masters)
	if len(got.Passwords) != 1 || got.Passwords[0] != "second" || got.MaxClients != 7 || len(got.Users) != 1 {
		t.Errorf("got %+v", got)
	}
	if said := out.String(); strings.Contains(said, "next start") || strings.Contains(said, "second") || strings.Contains(said, "third") {
		t.Errorf("says %s", said)
	}
	got = proxy.Config{}
	rewrite(t, r, "listen {\npassword = \"third\"\nmax_clients = 0\n}\n"+masters)
	if got.MaxClients != 0 || len(got.Passwords) != 0 {
		t.Error("a wrong file was taken")
	}
}

// TestEarlySIGHUP: newReloader catches the signal at once; otherwise it would end the
// process.
func TestEarlySIGHUP(t *testing.T) {
	r, _ := reloading(t, masters)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-r.signals
}
