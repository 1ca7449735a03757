package main

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/certificates"
	"github.com/redlockd/redlockd/quorum"
)

// file decodes the whole file into cfg, which holds the defaults.
func (d *decoder) file(body hcl.Body, cfg *config) {
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
			cfg.quorum.Masters = append(cfg.quorum.Masters, d.master(block, cfg))
		case "log":
			d.log(block, cfg)
		case "admin":
			d.admin(block, cfg)
		}
	}
}

func (d *decoder) listen(block *hcl.Block, cfg *config) {
	p := &cfg.proxy
	d.attributes(block, []setting{
		{"address", text(&p.Address)},
		{"password", passwords(&p.Passwords)},
		{"password_file", passwordFile(&p.Passwords)},
		{"max_clients", integer(&p.MaxClients)},
		{"max_pending", integer(&p.MaxPending)},
		{"max_memory", integer(&p.MaxMemory)},
		{"max_command_bytes", integer(&p.MaxCommandBytes)},
		{"max_arguments", integer(&p.MaxArguments)},
		{"max_key_bytes", integer(&p.MaxKeyBytes)},
		{"max_token_bytes", integer(&p.MaxTokenBytes)},
		{"max_pipeline", integer(&p.MaxPipeline)},
		{"idle_timeout", duration(&p.IdleTimeout)},
		{"login_timeout", duration(&p.LoginTimeout)},
		{"write_timeout", duration(&p.WriteTimeout)},
		{"slowlog_slower_than", duration(&p.SlowerThan)},
		{"drain", duration(&cfg.drain)},
	}, nil, and(d.listenerTLS("listen", cfg), "user name", d.user(cfg)))
}

func (d *decoder) quorum(block *hcl.Block, cfg *config) {
	q, c := &cfg.quorum, &cfg.commands
	noExpiry := string(c.NoExpiry)
	d.attributes(block, []setting{
		{"timeout", duration(&q.Timeout)},
		{"clock_drift", number(&q.ClockDrift)},
		{"max_ttl", duration(&q.MaxTTL)},
		{"retry_budget", duration(&q.RetryBudget)},
		{"no_expiry", oneOf(&noExpiry, string(commands.Reject), string(commands.MaxTTLInstead))},
		{"restart_quarantine", boolean(&q.RestartQuarantine)},
		{"handover", duration(&q.Handover)},
		{"deny", texts(&c.Deny)},
	}, nil, nil)
	c.NoExpiry = commands.NoExpiry(noExpiry)
	// Two packages look at it: commands refuses a greater one, quorum waits for
	// what was granted.
	c.MaxTTL = q.MaxTTL
}

func (d *decoder) master(block *hcl.Block, cfg *config) quorum.Master {
	m := quorum.Master{Name: block.Labels[0]}
	d.attributes(block, []setting{
		{"address", text(&m.Address)},
		{"username", text(&m.Username)},
		{"password", text(&m.Password)},
		{"required", boolean(&m.Required)},
		{"allow_eviction", boolean(&m.AllowEviction)},
	}, nil, d.masterTLS(certificates.MasterBlock(m.Name), cfg))
	// Checked here and not with the rest: two masters may have one name, and
	// each problem belongs to its own line.
	at, given := d.ranges[certificates.MasterBlock(m.Name)+".address"]
	problem := addressProblem(m.Address, 1)
	switch {
	case !given:
		d.add(block.DefRange, "No address", "master "+m.Name+": expected address = \"host:port\".")
	case problem != "" && !d.refused[at]:
		d.add(at, "Wrong address", "master "+m.Name+": "+problem)
	}
	if problem != "" {
		// So that two wrong ones are not called the same one as well.
		m.Address = "wrong address of " + m.Name
	}
	return m
}

func (d *decoder) log(block *hcl.Block, cfg *config) {
	d.attributes(block, []setting{
		{"level", oneOf(&cfg.log.level, "trace", "debug", "info", "warn", "error")},
		{"json", boolean(&cfg.log.json)},
	}, nil, nil)
}

func (d *decoder) admin(block *hcl.Block, cfg *config) {
	a := &adminConfig{address: adminAddress}
	cfg.admin = a
	d.attributes(block, []setting{
		{"address", text(&a.address)},
		{"password", text(&a.password)},
		{"pprof", boolean(&a.pprof)},
	}, nil, d.listenerTLS("admin", cfg))
}

// listenerTLS takes the block tls of a block that is listened on.
func (d *decoder) listenerTLS(path string, cfg *config) map[string]inner {
	return map[string]inner{"tls": func(block *hcl.Block) {
		var f certificates.Files
		d.attributesAt(path+".tls", block, []setting{
			{"cert", text(&f.Cert)},
			{"key", text(&f.Key)},
			{"client_ca", text(&f.CA)},
		}, nil, nil)
		cfg.tls[path] = f
		d.tlsFiles(block, f, true)
	}}
}

// masterTLS takes the block tls of a master.
func (d *decoder) masterTLS(path string, cfg *config) map[string]inner {
	return map[string]inner{"tls": func(block *hcl.Block) {
		var f certificates.Files
		d.attributesAt(path+".tls", block, []setting{
			{"ca", text(&f.CA)},
			{"cert", text(&f.Cert)},
			{"key", text(&f.Key)},
			{"server_name", text(&f.ServerName)},
		}, nil, nil)
		cfg.tls[path] = f
		d.tlsFiles(block, f, false)
	}}
}

// tlsFiles reads the files of a block, unless the block itself is wrong: a
// start and -check must not find out later.
func (d *decoder) tlsFiles(block *hcl.Block, f certificates.Files, listener bool) {
	if d.diags.HasErrors() {
		return
	}
	if err := f.Validate(listener); err != nil {
		d.add(block.DefRange, "Wrong certificates", "tls: "+strings.ReplaceAll(err.Error(), "\n", "; ")+".")
	}
}
