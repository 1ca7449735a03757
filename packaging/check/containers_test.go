package check

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var containers = flag.Bool("containers", false, "carry out docs/containers.md, as make containers does")

// docker does with podman what docs/containers.md has docker do. The build has the machine's own
// network, to get modules.
const docker = `
docker() {
	case $1 in
	build) shift; nsenter --net=/run/outside buildah bud --layers "$@" ;;
	compose) shift; podman-compose "$@" ;;
	*) podman "$@" ;;
	esac
}
`

// promised is, of each block of docs/containers.md, what it prints, in this order, and what
// else follows.
var promised = []struct {
	begins string
	prints []string
	then   func(t *testing.T)
}{
	{"docker build", []string{"COMMIT", "redlockd devel"}, imageIsSmall},
	{"docker run -d", []string{"ready", "OK"}, nil},
	{"docker run --rm", []string{"5 masters"}, nil},
	{"cd packaging/compose", nil, nil},
	{"docker compose run", []string{"5 masters are marked and may vote"}, nil},
	{"until curl", []string{"ready", "ready", "redlockd-1", "redlockd-2", "ready: voting="}, servicesAreWell},
	{"redis-cli", []string{"OK", "me", "me", "OK"}, nil},
	{"curl", []string{"200"}, nil},
	{"docker compose kill", nil, bothReload},
	{"docker compose start", nil, nil},
	{"docker compose down", nil, nothingIsLeft},
}

// TestContainers carries out docs/containers.md, in the namespaces of .ci/apart: ports are those
// of the document, and nothing stays.
func TestContainers(t *testing.T) {
	if !*containers {
		t.Skip("make containers runs this: it installs buildah and podman, and needs root")
	}
	settings := filepath.Join(t.TempDir(), "containers.conf")
	write(t, settings, podmanSettings(t))
	t.Setenv("CONTAINERS_CONF", settings)
	t.Setenv("BUILDAH_ISOLATION", "chroot")
	t.Log("SKIP docker itself, and other platforms than this one: there is no daemon here")
	t.Log("SKIP health checks every 5 s: podman needs systemd for that; each is carried out once")
	provideImages(t)

	sh := startShell(t)
	blocks := regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindAllSubmatch(read(t, filepath.Join(root, "docs", "containers.md")), -1)
	if len(blocks) != len(promised) {
		t.Fatalf("docs/containers.md has %d blocks, and %d are expected", len(blocks), len(promised))
	}
	for i, want := range promised {
		block := string(blocks[i][1])
		if !strings.HasPrefix(block, want.begins) {
			t.Fatalf("block %d is %q, and %q is expected", i, block, want.begins)
		}
		// A master that is still starting is no failure: see the document.
		said, ok := sh.run(t, block)
		for deadline := time.Now().Add(time.Minute); !ok && strings.Contains(said, "connection refused") && time.Now().Before(deadline); {
			said, ok = sh.run(t, block)
		}
		t.Logf("%s\n%s", block, said)
		if !ok {
			t.Fatal("it fails")
		}
		for _, text := range want.prints {
			before, after, found := strings.Cut(said, text)
			if !found {
				t.Fatalf("after %q it does not print %q", before, text)
			}
			said = after
		}
		if want.then != nil {
			want.then(t)
		}
	}
}

// podmanSettings is what differs from what podman assumes: no systemd, not crun, which refuses a
// system with control groups of both versions, and limits that not every machine allows.
func podmanSettings(t *testing.T) string {
	t.Helper()
	var limits []string
	for _, name := range []string{"nofile", "nproc"} {
		if most := output(t, "prlimit", "--"+name, "--output", "HARD", "--noheadings"); most != "unlimited" {
			limits = append(limits, fmt.Sprintf("%q", name+"="+most))
		}
	}
	return fmt.Sprintf(`
[containers]
default_ulimits = [%s]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
`, strings.Join(limits, ", "))
}

// shell carries out one block after the other, in a copy of the sources.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

func startShell(t *testing.T) *shell {
	t.Helper()
	sources := t.TempDir()
	copySources(t, sources)
	for _, folder := range []string{"docker", "compose"} {
		if err := os.CopyFS(filepath.Join(sources, "packaging", folder), os.DirFS(filepath.Join("..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	bash := exec.Command("bash")
	bash.Dir = sources
	in, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	bash.Stderr = bash.Stdout
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = bash.Wait()
	})
	fmt.Fprintf(in, "%s\ntrap failed=1 ERR\n", docker)
	return &shell{in, bufio.NewReader(out)}
}

// run returns what the block prints, and whether all of its commands end well.
func (s *shell) run(t *testing.T, block string) (said string, ok bool) {
	t.Helper()
	fmt.Fprintf(s.in, "failed=0\n{\n%s} </dev/null\necho; echo \"END $failed\"\n", block)
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s\n%s: %v", block, said, err)
		}
		if status, end := strings.CutPrefix(line, "END "); end {
			return strings.TrimSpace(said), status == "0\n"
		}
		said += line
	}
}

func imageIsSmall(t *testing.T) {
	size, err := strconv.Atoi(output(t, "podman", "image", "inspect", "-f", "{{.Size}}", "redlockd"))
	t.Logf("the image has %.1f MB", float64(size)/1e6)
	if err != nil || size > 25e6 {
		t.Errorf("it has %d bytes, %v", size, err)
	}
}

// servicesAreWell: the health check of every service finds it well, and redlockd is not root, has
// no capability, can get none, and writes nowhere.
func servicesAreWell(t *testing.T) {
	project, err := composeProject(t, composeEnv)
	if err != nil {
		t.Fatal(err)
	}
	for service := range project.Services {
		// Not at the first try: a busy machine needs longer than a check may take.
		eventually(t, service, os.Environ(), strings.Clone, "podman", "healthcheck", "run", container(service))
	}
	process := "/proc/" + output(t, "podman", "inspect", "-f", "{{.State.Pid}}", container("redlockd-1"))
	status := string(read(t, process+"/status"))
	for _, want := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532",
		"CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
	} {
		if !strings.Contains(status, "\n"+want+"\n") {
			t.Errorf("not %q in %s", want, status)
		}
	}
	for mount := range strings.Lines(string(read(t, process+"/mountinfo"))) {
		if field := strings.Fields(mount); field[4] == "/" && !strings.HasPrefix(field[5], "ro,") {
			t.Errorf("it can write: %s", mount)
		}
	}
}

func bothReload(t *testing.T) {
	for _, service := range []string{"redlockd-1", "redlockd-2"} {
		deadline := time.Now().Add(30 * time.Second)
		for log := ""; !strings.Contains(log, "configuration reloaded"); time.Sleep(50 * time.Millisecond) {
			if log = output(t, "podman", "logs", container(service)); time.Now().After(deadline) {
				t.Fatalf("%s does not reload: %s", service, log)
			}
		}
	}
}

func nothingIsLeft(t *testing.T) {
	if left := output(t, "podman", "ps", "-aq") + output(t, "podman", "network", "ls", "-q", "-f", "name=redlockd"); left != "" {
		t.Errorf("down leaves %s", left)
	}
}

// container is the service's name with podman-compose.
func container(service string) string { return "redlockd_" + service + "_1" }

// output is what a command prints, errors too; it has to end well.
func output(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(bytes.TrimSpace(out))
}
