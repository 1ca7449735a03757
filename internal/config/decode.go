package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// decoder collects all problems of a file, and remembers the place of each setting, so
// that later checks can still report the line.
type decoder struct {
	diags hcl.Diagnostics
	// ranges is keyed by "quorum.timeout" for a setting, and by "master.a" or "log" for a
	// block itself.
	ranges map[string]hcl.Range
	// unread are the settings whose value could not be used, keyed like ranges. What else
	// may be wrong with them is not known.
	unread map[string]bool
	// end is the place to report for anything missing.
	end hcl.Range
}

func newDecoder(end hcl.Range) *decoder {
	return &decoder{ranges: map[string]hcl.Range{}, unread: map[string]bool{}, end: end}
}

// setting is one attribute: its name, and a function that stores its value. set returns
// what was expected if the value is of another kind, else "".
type setting struct {
	name string
	set  func(cty.Value) (expected string)
}

func (d *decoder) add(at hcl.Range, summary, detail string) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at,
	})
}

// content decodes a body and reports what is not in the schema.
func (d *decoder) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(schema)
	d.diags = append(d.diags, diags...)
	return content
}

// inner decodes a block within a block. Inner blocks are keyed by their type; "user name"
// is a block with a label.
type inner func(*hcl.Block)

// and adds one more inner block.
func and(blocks map[string]inner, name string, take inner) map[string]inner {
	blocks[name] = take
	return blocks
}

// attributes is attributesAt for a block at the top level of the file.
func (d *decoder) attributes(block *hcl.Block, settings []setting, blocks map[string]inner) {
	path := strings.Join(append([]string{block.Type}, block.Labels...), ".")
	d.attributesAt(path, block, settings, blocks)
}

// attributesAt stores the settings that the block has, and decodes its inner blocks.
func (d *decoder) attributesAt(path string, block *hcl.Block, settings []setting, blocks map[string]inner) {
	d.ranges[path] = block.DefRange
	schema := &hcl.BodySchema{}
	for _, s := range settings {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: s.name})
	}
	for name := range blocks {
		words := strings.Fields(name)
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: words[0], LabelNames: words[1:]})
	}
	content := d.content(block.Body, schema)
	for _, s := range settings {
		delete(d.ranges, path+"."+s.name) // it may be that of another block with this path
		delete(d.unread, path+"."+s.name)
		if a, ok := content.Attributes[s.name]; ok {
			d.attribute(path, a, s)
		}
	}
	d.blocks(content.Blocks, blocks)
}

func (d *decoder) blocks(found hcl.Blocks, blocks map[string]inner) {
	seen := map[string]bool{}
	take := map[string]inner{}
	for name, one := range blocks {
		kind, _, _ := strings.Cut(name, " ")
		take[kind] = one
	}
	for _, b := range found {
		name := strings.Join(append([]string{b.Type}, b.Labels...), " ")
		if seen[name] {
			d.add(b.DefRange, "Duplicate block "+name, "Expected one block with all settings.")
			continue
		}
		seen[name] = true
		take[b.Type](b)
	}
}

func (d *decoder) attribute(path string, a *hcl.Attribute, s setting) {
	at := a.Expr.Range()
	d.ranges[path+"."+s.name] = at
	value, diags := a.Expr.Value(functions)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		d.unread[path+"."+s.name] = true
		return
	}
	if expected := s.set(value); expected != "" {
		d.unread[path+"."+s.name] = true
		d.add(at, "Wrong value", s.name+": expected "+expected+".")
	}
}
