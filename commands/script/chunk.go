package script

import (
	"errors"

	"github.com/redlockd/redlockd/commands/script/lua"
)

// chunk is a compiled script. It is never written to, so sessions share it.
type chunk struct {
	sha  string
	code *lua.Chunk
}

func compile(sha, body string) (*chunk, error) {
	code, err := lua.Parse("user_script", body)
	if err != nil {
		return nil, errors.New("ERR Error compiling script (new function): " + err.Error())
	}
	return &chunk{sha, code}, nil
}
