package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/proxy"
	"github.com/redlockd/redlockd/quorum"
)

// Config is what the file says: one part per package, each with the package's
// own defaults, and what belongs to the process itself.
type Config struct {
	Proxy    proxy.Config
	Commands commands.Config
	Quorum   quorum.Config
	// Drain is how long a stop waits for what is under way (S6). Default 10s.
	Drain time.Duration
	Log   Log
	// Admin is nil without a block admin: then there is no such address.
	Admin *Admin
	TLS   certificates.Blocks
}

// Majority returns how many masters must agree (V1).
func (c Config) Majority() int { return len(c.Quorum.Masters)/2 + 1 }

// defaultAdminAddress is where operators look by default.
const defaultAdminAddress = "127.0.0.1:9736"

// Admin is the block admin.
type Admin struct {
	// Address is host:port. Default 127.0.0.1:9736.
	Address string
	// Pprof serves Go's profiles under /debug/pprof/, to those who may see the
	// metrics. Default false.
	Pprof bool
	// Password for HTTP's basic authentication, whatever the user's name;
	// empty asks for none.
	Password string
	// Elsewhere takes a free port where the address is in use. Default false.
	Elsewhere bool
}

// Log is the block log.
type Log struct {
	// Level is the least important line that is written. Default info.
	Level string
	// JSON writes one JSON object per line. Default false.
	JSON bool
}

// Default returns what an empty file would mean, without masters.
func Default() Config {
	return Config{
		Proxy:    proxy.DefaultConfig(),
		Commands: commands.DefaultConfig(),
		Quorum:   quorum.DefaultConfig(),
		Drain:    10 * time.Second,
		Log:      Log{Level: "info"},
		TLS:      certificates.Blocks{},
	}
}

// Load reads, decodes and checks a file. listen replaces
// listen.address unless it is empty. The error is an *Error with all
// problems at once, or says why the file could not be read; the strings are
// warnings about what works but is seldom meant.
func Load(name, listen string) (Config, []string, error) {
	source, err := readBounded(name, maxFile)
	if err != nil {
		return Config{}, nil, err
	}
	return decode(name, source, listen)
}

// maxFile bounds a configuration in bytes.
const maxFile = 1 << 20

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

// decode is Load for what was read.
func decode(name string, source []byte, listen string) (Config, []string, error) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	files := map[string]*hcl.File{name: file}
	if diags.HasErrors() {
		// What follows a syntax error is guesswork, so nothing else is said.
		return Config{}, nil, &Error{name, diags, files}
	}
	cfg := Default()
	d := newDecoder(file.Body.MissingItemRange())
	d.file(file.Body, &cfg)
	if listen != "" {
		d.replaceAddress(&cfg, listen)
	}
	d.check(cfg)
	if d.diags.HasErrors() {
		return Config{}, nil, &Error{name, d.diags, files}
	}
	return cfg, warnings(cfg), nil
}

// Dev returns the configuration of -dev, without its masters. listen
// replaces the default address unless it is empty.
func Dev(listen string) (Config, error) {
	cfg := Default()
	if listen != "" {
		cfg.Proxy.Address = listen
	}
	if problem := addressProblem(cfg.Proxy.Address, 0); problem != "" {
		return Config{}, errors.New("-listen: " + problem)
	}
	if !onThisHost(cfg.Proxy.Address) {
		return Config{}, errors.New("-listen: " + protectedMode("listen", cfg.Proxy.Address))
	}
	// Somebody else's port is no reason not to try locks out.
	cfg.Admin = &Admin{Address: defaultAdminAddress, Elsewhere: true}
	return cfg, nil
}
