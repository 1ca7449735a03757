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

// Config is the contents of the file: one part for each package, with the package's own
// defaults, and the settings of the process itself.
type Config struct {
	Proxy    proxy.Config
	Commands commands.Config
	Quorum   quorum.Config
	// Drain is how long a stop waits for commands under way (S6). Default 10s.
	Drain time.Duration
	Log   Log
	// Admin is nil without a block admin: then there is no admin address.
	Admin *Admin
	TLS   certificates.Blocks
}

// Majority returns how many masters must agree (V1).
func (c Config) Majority() int { return len(c.Quorum.Masters)/2 + 1 }

// defaultAdminAddress is the default address for operators.
const defaultAdminAddress = "127.0.0.1:9736"

// Admin is the block admin.
type Admin struct {
	// Address is host:port. Default 127.0.0.1:9736.
	Address string
	// Pprof serves Go's profiles under /debug/pprof/, to users who may see the metrics.
	// Default false.
	Pprof bool
	// Password is for HTTP's basic authentication, with any user name; if empty, no
	// password is needed.
	Password string
}

// MayMove reports whether a free port of this host may take the place of the address if it is in
// use. Nobody has chosen the default address, so nobody relies on it.
func (a Admin) MayMove() bool { return a.Address == defaultAdminAddress }

// Log is the block log.
type Log struct {
	// Level is the lowest level that is logged. Default info.
	Level string
	// JSON writes one JSON object per line. Default false.
	JSON bool
}

// Default returns the configuration of an empty file, without masters.
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

// Load reads, decodes and checks a file. listen replaces listen.address unless it is
// empty. The error is an *Error with all problems at once, or says why the file could not
// be read. The strings are warnings about settings that work but are seldom intended.
func Load(name, listen string) (Config, []string, error) {
	source, err := readBounded(name, maxFile)
	if err != nil {
		return Config{}, nil, err
	}
	return decode(name, source, listen)
}

// maxFile bounds a configuration in bytes.
const maxFile = 1 << 20

// readBounded reads a file, and fails if it is longer than most bytes.
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

// decode is Load for source, which was read already.
func decode(name string, source []byte, listen string) (Config, []string, error) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	files := map[string]*hcl.File{name: file}
	if diags.HasErrors() {
		// What follows a syntax error is guesswork, so no other problem is reported.
		return Config{}, nil, newError(name, diags, files)
	}
	cfg := Default()
	d := newDecoder(file.Body.MissingItemRange())
	d.file(file.Body, &cfg)
	if listen != "" {
		d.replaceAddress(&cfg, listen)
	}
	d.check(cfg)
	if d.diags.HasErrors() {
		return Config{}, nil, newError(name, d.diags, files)
	}
	return cfg, warnings(cfg), nil
}

// Dev returns the configuration of -dev, without its masters. listen replaces the default
// address unless it is empty.
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
	cfg.Admin = &Admin{Address: defaultAdminAddress}
	return cfg, nil
}
