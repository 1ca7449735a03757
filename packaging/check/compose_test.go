package check

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const compose = "../compose"

var composeEnv = []string{"REDLOCKD_PASSWORD=clients-secret", "REDLOCKD_ADMIN_PASSWORD=admins-secret", "MASTER_PASSWORD=masters-secret"}

// composeProject is compose.yaml as docker compose sees it, with the
// services of all profiles.
func composeProject(t *testing.T, env []string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(compose, "compose.yaml")},
		cli.WithWorkingDirectory(compose), cli.WithEnv(env), cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	return cli.ProjectFromOptions(t.Context(), options)
}

// TestComposeWantsPasswords: none of them has a default that everybody knows,
// and .env.example names all.
func TestComposeWantsPasswords(t *testing.T) {
	for i, variable := range composeEnv {
		if _, err := composeProject(t, slices.Delete(slices.Clone(composeEnv), i, i+1)); err == nil {
			t.Errorf("starts without %s", variable)
		}
		name, _, _ := strings.Cut(variable, "=")
		if !strings.Contains(string(read(t, filepath.Join(compose, ".env.example"))), "\n"+name+"=\n") {
			t.Errorf(".env.example does not name %s", name)
		}
	}
}

// TestCompose carries out what compose.yaml says as processes of this host:
// the masters' command, the bootstrap's, redlockd's and its health check, with
// their own environment and file. Only names and ports are others.
func TestCompose(t *testing.T) {
	project, err := composeProject(t, composeEnv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("run make deps: ", err)
	}
	config := string(read(t, filepath.Join(compose, "config", "config.hcl")))
	checkConfig(t, config, environment(project, "redlockd-1"))
	move := func(name, to string) {
		if strings.Count(config, `"`+name+`"`) != 1 {
			t.Fatalf("the configuration does not name %s once", name)
		}
		config = strings.Replace(config, name, to, 1)
	}
	masters := 0
	for name, service := range project.Services {
		if strings.HasPrefix(name, "master-") {
			address := freeAddress(t)
			move(name+":6379", address)
			_, port, _ := net.SplitHostPort(address)
			run(t, environment(project, name), append(slices.Clone(service.Command), "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir())...)
			masters++
		}
	}
	if masters != 5 {
		t.Fatalf("%d masters", masters)
	}
	clients, admin := freeAddress(t), freeAddress(t)
	move("0.0.0.0:6380", clients)
	move("0.0.0.0:9736", admin)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.hcl"), config)
	here := strings.NewReplacer("/usr/local/bin/redlockd", redlockd(t), "127.0.0.1:9736", admin, "/etc/redlockd", dir).Replace

	eventually(t, "bootstrap", environment(project, "redlockd-1"), here, redlockd(t), "-config", "/etc/redlockd/config.hcl", "-bootstrap")
	// The image's own command: see TestDockerfile.
	run(t, environment(project, "redlockd-1"), redlockd(t), "-config", filepath.Join(dir, "config.hcl"))
	health := project.Services["redlockd-1"].HealthCheck.Test
	if health[0] != "CMD" {
		t.Fatalf("the health check needs a shell: %q", health)
	}
	eventually(t, "health", nil, here, health[1:]...)
	readiness := slices.Clone(health[1:])
	readiness[len(readiness)-1] = strings.Replace(readiness[len(readiness)-1], "healthz", "readyz", 1)
	eventually(t, "readiness", nil, here, readiness...)
	host, port, _ := net.SplitHostPort(clients)
	eventually(t, "a lock", []string{"REDISCLI_AUTH=clients-secret"}, here,
		"redis-cli", "-e", "-h", host, "-p", port, "set", "lock:1", "me", "nx", "px", "30000")
}

// environment is that of the service, and PATH.
func environment(p *types.Project, service string) []string {
	return append(p.Services[service].Environment.ToMapping().Values(), "PATH="+os.Getenv("PATH"))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// run runs a server until the test ends.
func run(t *testing.T, env []string, argv ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%q: %v\n%s", argv, err, out.String())
		}
	})
}

// eventually tries the command until it ends well.
func eventually(t *testing.T, what string, env []string, here func(string) string, argv ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i := range argv {
		argv[i] = here(argv[i])
	}
	for {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Logf("%s: %s", what, bytes.TrimSpace(out))
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %q: %v\n%s", what, argv, err, out)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
