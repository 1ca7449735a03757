package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/quorum"
)

// file decodes the whole file into cfg, which contains the defaults.
func (d *decoder) file(body hcl.Body, cfg *Config) {
	content := d.content(body, &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "listen"},
		{Type: "quorum"},
		{Type: "master", LabelNames: []string{"name"}},
		{Type: "log"},
		{Type: "admin"},
	}})
	seen := map[string]bool{}
	for _, block := range content.Blocks {
		if block.Type != "master" && seen[block.Type] {
			d.add(block.DefRange, "Duplicate block "+block.Type, "Expected one block with all settings.")
		}
		seen[block.Type] = true
		switch block.Type {
		case "listen":
			d.listen(block, cfg)
		case "quorum":
			d.quorum(block, cfg)
		case "master":
			cfg.Quorum.Masters = append(cfg.Quorum.Masters, d.master(block, cfg))
		case "log":
			d.log(block, cfg)
		case "admin":
			d.admin(block, cfg)
		}
	}
}

func (d *decoder) listen(block *hcl.Block, cfg *Config) {
	p := &cfg.Proxy
	d.attributes(block, []setting{
		{"address", stringTo(&p.Address)},
		{"unix", stringTo(&p.Unix)},
		{"mode", modeTo(&p.Mode)},
		{"step_aside", durationTo(&p.StepAside)},
		{"password", passwordsTo(&p.Passwords)},
		{"password_file", passwordFileTo(&p.Passwords)},
		{"max_clients", intTo(&p.MaxClients)},
		{"max_pending", intTo(&p.MaxPending)},
		{"max_memory", intTo(&p.MaxMemory)},
		{"max_command_bytes", intTo(&p.MaxCommandBytes)},
		{"max_arguments", intTo(&p.MaxArguments)},
		{"max_key_bytes", intTo(&p.MaxKeyBytes)},
		{"max_token_bytes", intTo(&p.MaxTokenBytes)},
		{"max_pipeline", intTo(&p.MaxPipeline)},
		{"idle_timeout", durationTo(&p.IdleTimeout)},
		{"login_timeout", durationTo(&p.LoginTimeout)},
		{"write_timeout", durationTo(&p.WriteTimeout)},
		{"slowlog_slower_than", durationTo(&p.SlowerThan)},
		{"drain", durationTo(&cfg.Drain)},
	}, and(d.listenerTLS("listen", cfg), "user name", d.user(cfg)))
}

func (d *decoder) quorum(block *hcl.Block, cfg *Config) {
	q, c := &cfg.Quorum, &cfg.Commands
	noExpiry := string(c.NoExpiry)
	d.attributes(block, []setting{
		{"timeout", durationTo(&q.Timeout)},
		{"clock_drift", floatTo(&q.ClockDrift)},
		{"max_ttl", durationTo(&q.MaxTTL)},
		{"retry_budget", durationTo(&q.RetryBudget)},
		{"no_expiry", oneOfTo(&noExpiry, string(commands.Reject), string(commands.MaxTTLInstead))},
		{"handover", durationTo(&q.Handover)},
		{"deny", stringsTo(&c.Deny, `["del", "unlink"]`)},
	}, nil)
	c.NoExpiry = commands.NoExpiry(noExpiry)
	// Two packages use it: commands refuses a greater TTL, quorum waits for locks that
	// were granted.
	c.MaxTTL = q.MaxTTL
}

func (d *decoder) master(block *hcl.Block, cfg *Config) quorum.Master {
	m := quorum.Master{Name: block.Labels[0]}
	d.attributes(block, []setting{
		{"address", stringTo(&m.Address)},
		{"username", stringTo(&m.Username)},
		{"password", stringTo(&m.Password)},
		{"required", boolTo(&m.Required)},
		{"allow_eviction", boolTo(&m.AllowEviction)},
	}, d.masterTLS(certificates.MasterBlock(m.Name), cfg))
	// Checked here and not with the rest: two masters may have the same name, and each
	// problem needs its own line.
	at, given := d.ranges[certificates.MasterBlock(m.Name)+".address"]
	problem := addressProblem(m.Address, 1)
	switch {
	case !given:
		d.add(block.DefRange, "No address", fmt.Sprintf("master %q: expected address = \"host:port\".", m.Name))
	case problem != "" && d.read(certificates.MasterBlock(m.Name)+".address"):
		d.add(at, "Wrong address", fmt.Sprintf("master %q: %s", m.Name, problem))
	}
	if problem != "" {
		// So that two wrong addresses are not reported as equal, too.
		m.Address = "wrong address of " + m.Name
	}
	return m
}

func (d *decoder) log(block *hcl.Block, cfg *Config) {
	d.attributes(block, []setting{
		{"level", oneOfTo(&cfg.Log.Level, "trace", "debug", "info", "warn", "error")},
		{"json", boolTo(&cfg.Log.JSON)},
	}, nil)
}

func (d *decoder) admin(block *hcl.Block, cfg *Config) {
	a := &Admin{Address: defaultAdminAddress}
	cfg.Admin = a
	d.attributes(block, []setting{
		{"address", stringTo(&a.Address)},
		{"password", stringTo(&a.Password)},
		{"pprof", boolTo(&a.Pprof)},
		{"patterns", stringsTo(&cfg.Proxy.Patterns, `["locks:orders:*"]`)},
	}, d.listenerTLS("admin", cfg))
}

// listenerTLS decodes the block tls of a listener's block.
func (d *decoder) listenerTLS(path string, cfg *Config) map[string]inner {
	return map[string]inner{"tls": func(block *hcl.Block) {
		var f certificates.Files
		d.attributesAt(path+".tls", block, []setting{
			{"cert", stringTo(&f.Cert)},
			{"key", stringTo(&f.Key)},
			{"client_ca", stringTo(&f.CA)},
		}, nil)
		cfg.TLS[path] = f
		d.tlsFiles(block, f, true)
	}}
}

// masterTLS decodes the block tls of a master.
func (d *decoder) masterTLS(path string, cfg *Config) map[string]inner {
	return map[string]inner{"tls": func(block *hcl.Block) {
		var f certificates.Files
		d.attributesAt(path+".tls", block, []setting{
			{"ca", stringTo(&f.CA)},
			{"cert", stringTo(&f.Cert)},
			{"key", stringTo(&f.Key)},
			{"server_name", stringTo(&f.ServerName)},
		}, nil)
		cfg.TLS[path] = f
		d.tlsFiles(block, f, false)
	}}
}

// tlsFiles reads the files of a block, unless the file has errors already: a start and
// -check must find wrong files at once.
func (d *decoder) tlsFiles(block *hcl.Block, f certificates.Files, listener bool) {
	if d.diags.HasErrors() {
		return
	}
	if err := f.Validate(listener); err != nil {
		d.add(block.DefRange, "Wrong certificates", "tls: "+strings.ReplaceAll(err.Error(), "\n", "; ")+".")
	}
}
