package config

import (
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// is reports whether the value is known, not null, and of this type.
func is(v cty.Value, t cty.Type) bool {
	return v.Type() == t && v.IsKnown() && !v.IsNull()
}

// stringTo and the functions like it store a value of their kind, and return what they
// expected if it is of another kind.
func stringTo(to *string) func(cty.Value) string {
	return func(v cty.Value) string {
		if !is(v, cty.String) {
			return "a string in quotes"
		}
		*to = v.AsString()
		return ""
	}
}

func oneOfTo(to *string, words ...string) func(cty.Value) string {
	return func(v cty.Value) string {
		var got string
		if stringTo(&got)(v) == "" {
			for _, word := range words {
				if got == word {
					*to = got
					return ""
				}
			}
		}
		return `one of "` + strings.Join(words, `", "`) + `"`
	}
}

func durationTo(to *time.Duration) func(cty.Value) string {
	return func(v cty.Value) string {
		if is(v, cty.String) {
			if parsed, err := time.ParseDuration(v.AsString()); err == nil {
				*to = parsed
				return ""
			}
		}
		return `a duration with its unit in quotes, as "50ms", "10s" or "5m"`
	}
}

// modeTo reads the permissions of a file, as chmod does.
func modeTo(to *os.FileMode) func(cty.Value) string {
	return func(v cty.Value) string {
		if is(v, cty.String) {
			if bits, err := strconv.ParseUint(v.AsString(), 8, 32); err == nil && bits <= 0o777 {
				*to = os.FileMode(bits)
				return ""
			}
		}
		return `permissions in octal digits in quotes, as "0660"`
	}
}

func intTo(to *int) func(cty.Value) string {
	return func(v cty.Value) string {
		if is(v, cty.Number) {
			if n, accuracy := v.AsBigFloat().Int64(); accuracy == big.Exact && int64(int(n)) == n {
				*to = int(n)
				return ""
			}
		}
		return "a whole number"
	}
}

func floatTo(to *float64) func(cty.Value) string {
	return func(v cty.Value) string {
		if !is(v, cty.Number) {
			return "a number, as 0.01"
		}
		*to, _ = v.AsBigFloat().Float64()
		return ""
	}
}

func boolTo(to *bool) func(cty.Value) string {
	return func(v cty.Value) string {
		if !is(v, cty.Bool) {
			return "true or false"
		}
		*to = v.True()
		return ""
	}
}

func stringsTo(to *[]string, example string) func(cty.Value) string {
	return func(v cty.Value) string {
		expected := "a list of strings, as " + example
		if v.IsNull() || !v.IsWhollyKnown() || !v.Type().IsTupleType() {
			return expected
		}
		var list []string
		for _, element := range v.AsValueSlice() {
			var one string
			if stringTo(&one)(element) != "" {
				return expected
			}
			list = append(list, one)
		}
		*to = list
		return ""
	}
}

// functions are the functions that an expression may call: env("NAME"), which keeps
// secrets out of the file.
var functions = &hcl.EvalContext{Functions: map[string]function.Function{
	"env": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			// An empty one counts as unset: as a password it would let everybody in.
			if value := os.Getenv(name); value != "" {
				return cty.StringVal(value), nil
			}
			return cty.NilVal, fmt.Errorf("the environment variable %s is not set, or empty", name)
		},
	}),
}}
