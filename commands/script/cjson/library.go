package cjson

import "github.com/redlockd/redlockd/commands/script/lua"

// Name is the name of the library.
const Name = "cjson"

// Absent are the names of Redis's library that this one lacks, with spaces. They change
// settings for all later scripts.
const Absent = `cjson.new cjson.encode_sparse_array cjson.encode_max_depth cjson.decode_max_depth
	cjson.encode_number_precision cjson.encode_keep_buffer cjson.encode_invalid_numbers
	cjson.decode_invalid_numbers cjson.decode_array_with_array_mt`

// maxDepth is how deep arrays and objects may nest, in a text and in a value.
const maxDepth = 1000

// null is JSON's null, since a table cannot hold nil.
var null = &lua.Userdata{Name: "null"}

// Functions returns the functions of the library.
func Functions() map[string]lua.Function {
	return map[string]lua.Function{
		"encode": func(r *lua.Run, args []lua.Value) []lua.Value {
			onlyOne(r, "encode", args)
			e := encoder{run: r}
			e.value(args[0], 0)
			return []lua.Value{e.out.String()}
		},
		"decode": func(r *lua.Run, args []lua.Value) []lua.Value {
			onlyOne(r, "decode", args)
			return []lua.Value{decode(r, lua.StringArg(r, "decode", args, 0))}
		},
	}
}

// Constants returns what else is in the library.
func Constants() map[string]lua.Value {
	return map[string]lua.Value{"null": null, "_NAME": Name, "_VERSION": "2.1.0"}
}

func onlyOne(r *lua.Run, name string, args []lua.Value) {
	if len(args) != 1 {
		r.BadArgument(name, 0, "expected 1 argument")
	}
}
