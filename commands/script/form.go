package script

import "github.com/redlockd/redlockd/commands/script/lua"

// maxInputs bounds the KEYS and ARGV of calls whose meaning is remembered.
const maxInputs = 16

// form is all that a proof may depend on: the number of keys and of arguments, which
// inputs are equal, which are numbers, and the bytes of the revealed ones. All calls of
// one form take the same course through a script.
type form struct {
	inputs   []string // KEYS, then ARGV
	keys     int
	db       int
	classes  [maxInputs]uint8 // the first input with the same bytes
	numbers  [maxInputs]bool
	revealed uint32 // a bit for each class
	real     bool   // all are revealed, and there may be more than maxInputs
}

// compare sets what is derived from the inputs. It keeps no reference to them, so that
// they may be on the stack.
func (f *form) compare() {
	inputs := f.inputs
	for i, s := range inputs {
		f.classes[i] = uint8(i)
		for j := range i {
			if inputs[j] == s {
				f.classes[i] = uint8(j)
				break
			}
		}
		f.numbers[i] = numericText(s)
	}
}

// realForm returns the form of a run on real values.
func realForm(inputs []string, keys int) *form { return &form{inputs: inputs, keys: keys, real: true} }

func (f *form) numeric(class int) bool { return f.numbers[class] }

func (f *form) isRevealed(class int) bool { return f.revealed&(1<<class) != 0 }

// input returns input i as a run sees it.
func (f *form) input(i int) value {
	if f.real || f.isRevealed(int(f.classes[i])) {
		return f.inputs[i]
	}
	return sealed{int(f.classes[i])}
}

// appendShape appends everything but the revealed bytes.
func (f *form) appendShape(b []byte, sha string) []byte {
	b = append(append(b, sha...), byte(f.db), byte(f.keys), byte(len(f.inputs)))
	for i := range f.inputs {
		c := f.classes[i]
		if f.numbers[i] {
			c |= 0x80
		}
		b = append(b, c)
	}
	return b
}

// appendRevealed appends the revealed bytes, each with its length.
func (f *form) appendRevealed(b []byte) []byte {
	for i, s := range f.inputs {
		if int(f.classes[i]) == i && f.isRevealed(i) {
			n := len(s)
			b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
			b = append(b, s...)
		}
	}
	return b
}

// tables returns the globals KEYS and ARGV.
func (f *form) tables(b *lua.Budget) map[string]value {
	keys, args := &lua.Table{}, &lua.Table{}
	for i := range f.inputs {
		t, n := args, i-f.keys
		if i < f.keys {
			t, n = keys, i
		}
		t.Set(b, float64(n+1), f.input(i))
	}
	return map[string]value{"KEYS": keys, "ARGV": args}
}
