package licences

import (
	"flag"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var sources = flag.String("sources", root, "the module whose dependencies are looked at")

// TestEverythingGoesWithMIT: what redlockd is built, tested and checked with.
func TestEverythingGoesWithMIT(t *testing.T) {
	modules, err := Used(*sources)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 20 {
		t.Errorf("only %d modules", len(modules))
	}
	for _, problem := range Problems(modules) {
		t.Error(problem)
	}
}

// TestText: whoever gets an archive gets the licences of what is in it.
func TestText(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		modules, err := Linked(root, goos, "arm64")
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range Problems(modules) {
			t.Errorf("%s: %s", goos, problem)
		}
		text := Text(modules)
		for _, want := range []string{
			"github.com/redis/rueidis v", "github.com/hashicorp/hcl/v2 v2.25.0: MPL-2.0", "std go1.",
			"Mozilla Public License, version 2.0", // hcl's own text
			"Copyright 2009 The Go Authors.",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", goos, want)
			}
		}
		if strings.Contains(text, "redsync") {
			t.Errorf("%s: redsync is for tests and not linked", goos)
		}
	}
}

// TestProblems breaks the rule.
func TestProblems(t *testing.T) {
	module := func(path string, files ...string) Module {
		g := gathered{path, "v1", map[string]string{}}
		for _, f := range files {
			g.files[f[:8]] = f
		}
		return g.module()
	}
	const (
		mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
		gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.`
	)
	for _, test := range []struct {
		name string
		m    Module
		want string
	}{
		{"a good one", module("good", mit), ""},
		{"nothing", module("none"), "none v1 has no licence"},
		{"words of one's own", module("own", "Do what you want."), "own v1 has no licence"},
		{"copyleft", module("copyleft", gpl), "copyleft v1 is under GPL-3.0"},
		{"copyleft beside a good one", module("both", mit, gpl), "both v1 is under GPL-3.0"},
	} {
		got := Problems([]Module{test.m})
		if test.want == "" && len(got) > 0 || test.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, test.want) }) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
