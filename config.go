package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// config is what the file says: one part per package, each with the package's own
// defaults, and what belongs to the process itself.
type config struct {
	proxy    proxy.Config
	commands commands.Config
	quorum   quorum.Config
	// drain is how long a stop waits for what is under way (S6). Default 10s.
	drain time.Duration
	log   logConfig
	// admin is nil without a block admin: then there is no such address.
	admin *adminConfig
	tls   certificates.Blocks
}

// adminAddress is where operators look by default.
const adminAddress = "127.0.0.1:9736"

// adminConfig is the block admin.
type adminConfig struct {
	// address is host:port. Default 127.0.0.1:9736.
	address string
	// pprof serves Go's profiles under /debug/pprof/, to those who may see the
	// metrics. Default false.
	pprof bool
	// password for HTTP's basic authentication, whatever the user's name;
	// empty asks for none.
	password string
	// elsewhere takes a free port where the address is in use. Default false.
	elsewhere bool
}

// logConfig is the block log.
type logConfig struct {
	// level is the least important line that is written. Default info.
	level string
	// json writes one JSON object per line. Default false.
	json bool
}

// defaultConfig is what an empty file would mean, without masters.
func defaultConfig() config {
	return config{
		proxy:    proxy.DefaultConfig(),
		commands: commands.DefaultConfig(),
		quorum:   quorum.DefaultConfig(),
		drain:    10 * time.Second,
		log:      logConfig{level: "info"},
		tls:      certificates.Blocks{},
	}
}

// configError is everything that is wrong with a configuration. It can print
// itself with the lines it is about.
type configError struct {
	diags hcl.Diagnostics
	files map[string]*hcl.File
}

func (e *configError) Error() string { return e.diags.Error() }

// print writes every problem with its file, line and the line itself, from
// the top of the file down.
func (e *configError) print(w io.Writer) {
	slices.SortStableFunc(e.diags, func(a, b *hcl.Diagnostic) int {
		return cmp.Compare(line(a), line(b))
	})
	hcl.NewDiagnosticTextWriter(w, e.files, 78, false).WriteDiagnostics(e.diags)
}

// line is where a problem stands; 0 for one of no place.
func line(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return 0
	}
	return d.Subject.Start.Line
}

// loadConfig reads, decodes and checks a file. listen replaces
// listen.address unless it is empty. The error is a *configError with all
// problems at once, or says why the file could not be read; the strings are
// warnings about what works but is seldom meant.
func loadConfig(name, listen string) (config, []string, error) {
	source, err := readBounded(name, maxConfigFile)
	if err != nil {
		return config{}, nil, err
	}
	return decodeConfig(name, source, listen)
}

// maxConfigFile bounds a configuration in bytes.
const maxConfigFile = 1 << 20

// readBounded reads a file of at most this many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	source, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(source)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", name, most)
	}
	return source, err
}

// decodeConfig is loadConfig for what was read.
func decodeConfig(name string, source []byte, listen string) (config, []string, error) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	files := map[string]*hcl.File{name: file}
	if diags.HasErrors() {
		// What follows a syntax error is guesswork, so nothing else is said.
		return config{}, nil, &configError{diags, files}
	}
	cfg := defaultConfig()
	d := newDecoder(file.Body.MissingItemRange())
	d.file(file.Body, &cfg)
	if listen != "" {
		d.replaceAddress(&cfg, listen)
	}
	d.check(cfg)
	if d.diags.HasErrors() {
		return config{}, nil, &configError{d.diags, files}
	}
	return cfg, warnings(cfg), nil
}

// devConfig is the configuration of -dev, without its masters. listen
// replaces the default address unless it is empty.
func devConfig(listen string) (config, error) {
	cfg := defaultConfig()
	if listen != "" {
		cfg.proxy.Address = listen
	}
	if problem := addressProblem(cfg.proxy.Address, 0); problem != "" {
		return config{}, errors.New("-listen: " + problem)
	}
	if !onThisHost(cfg.proxy.Address) {
		return config{}, errors.New("-listen: " + protectedMode("listen", cfg.proxy.Address))
	}
	// Somebody else's port is no reason not to try locks out.
	cfg.admin = &adminConfig{address: adminAddress, elsewhere: true}
	return cfg, nil
}
