package check

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// provideImages pulls the images that the Dockerfile and compose.yaml name, or puts what this
// machine has in their place, under the same names.
func provideImages(t *testing.T) {
	t.Helper()
	for _, image := range baseImages(t) {
		out, err := pull(image)
		if err == nil {
			t.Logf("%s: pulled", image)
			continue
		}
		name, _, _ := strings.Cut(image, ":")
		stand, known := standIns[name]
		if !known {
			t.Fatalf("%s: %v, and nothing stands in for it\n%s", image, err, out)
		}
		t.Logf("%s: STAND-IN, because it cannot be pulled: %s", image, lastLine(out))
		folder := t.TempDir()
		stand(t, folder)
		output(t, "buildah", "bud", "-q", "-t", image, folder)
	}
}

// baseImages are the images that are not built here.
func baseImages(t *testing.T) []string {
	t.Helper()
	var images, stages []string
	for _, stage := range dockerStages(t) {
		if !slices.Contains(stages, stage.BaseName) {
			images = append(images, stage.BaseName)
		}
		stages = append(stages, stage.Name)
	}
	project, err := composeProject(t, composeEnv)
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range project.Services {
		if service.Build == nil {
			images = append(images, service.Image)
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

// pull gets the image over this machine's own network, and returns what podman says.
func pull(image string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nsenter", "--net=/run/outside", "podman", "pull", "-q", image).CombinedOutput()
	return string(out), err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// standIns make, by the image's name, what the image is built from: a Dockerfile and files.
var standIns = map[string]func(t *testing.T, folder string){
	// Go, its modules, and what the Dockerfile's commands call.
	"docker.io/library/golang": func(t *testing.T, folder string) {
		addPrograms(t, folder, "sh", "mkdir", "tar", "gzip")
		add(t, folder, goEnv(t, "GOROOT"), "usr/local/go")
		add(t, folder, filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download"), "modules")
		if err := os.Mkdir(filepath.Join(folder, "tmp"), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Logf("it has %s", goEnv(t, "GOVERSION"))
		write(t, filepath.Join(folder, "Dockerfile"),
			"FROM scratch\nCOPY . /\nENV PATH=/usr/local/go/bin:/usr/bin GOPROXY=file:///modules GOTOOLCHAIN=local\n")
	},
	// No certificates: the image connects to nobody here.
	"gcr.io/distroless/static-debian12": func(t *testing.T, folder string) {
		write(t, filepath.Join(folder, "Dockerfile"), "FROM scratch\nCOPY Dockerfile /etc/stand-in\n")
	},
	"docker.io/library/redis": func(t *testing.T, folder string) {
		addPrograms(t, folder, "redis-server", "redis-cli")
		t.Logf("it has %s", output(t, "redis-server", "--version"))
		write(t, filepath.Join(folder, "Dockerfile"), "FROM scratch\nCOPY . /\nENV PATH=/usr/bin\n")
	},
}

// addPrograms puts programs of this machine into /usr/bin, with the libraries that they load.
func addPrograms(t *testing.T, folder string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, "usr", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("usr/bin", filepath.Join(folder, "bin")); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		add(t, folder, program, "usr/bin/"+name)
		for _, word := range strings.Fields(output(t, "ldd", program)) {
			if filepath.IsAbs(word) {
				add(t, folder, word, word)
			}
		}
	}
}

// add copies a file or folder of this machine, and what its links lead to.
func add(t *testing.T, folder, from, to string) {
	t.Helper()
	to = filepath.Join(folder, to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "cp", "-RL", from, to)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return output(t, "go", "env", name)
}
