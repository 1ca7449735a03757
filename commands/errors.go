package commands

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Redis's own texts. Clients match them (Spring Integration falls back to Lua on
// errSyntax; all clients send EVAL after script.ErrNoScript).
const (
	errSyntax       = grammar.ErrSyntax
	errNotInteger   = grammar.ErrNotInteger
	errManyKeys     = "ERR Number of keys can't be greater than number of args"
	errNegativeKeys = "ERR Number of keys can't be negative"
	errFlushMode    = "ERR SCRIPT FLUSH only support SYNC|ASYNC option"
	errNotBusy      = "NOTBUSY No scripts in execution right now."
	errWrongType    = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errReadOnly     = "ERR Write commands are not allowed from read-only scripts."
)

// Texts of redlockd's own.
const (
	errNoExpiry  = `ERR a lock needs a TTL: redlockd refuses locks without one (no_expiry = "reject")`
	errMarkKey   = "ERR this key is reserved: '" + quorum.MarkKey + "' and '" + quorum.ChangeKey + "' are redlockd's own"
	errDebug     = "ERR redlockd does not debug scripts"
	errOtherDB   = "ERR redlockd runs EXEC only in the database of the watched keys, nothing was done"
	errExecKeys  = "ERR redlockd runs EXEC on 32 keys at most, nothing was done"
	errLongKey   = "ERR a key is longer than redlockd's max_key_bytes"
	errLongToken = "ERR a token is longer than redlockd's max_token_bytes"
	errHidden    = "ERR a token begins as what redlockd stores for a hash"
)

// unknown returns the reply to a command that this package does not have (C4), in Redis's
// words.
func unknown(args [][]byte) resp.Reply {
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.Write(cut(args[0], 128))
	b.WriteString("', with args beginning with: ")
	shown := 0
	for _, arg := range args[1:] {
		if shown >= 128 {
			break
		}
		arg = cut(arg, 128-shown)
		b.WriteString("'")
		b.Write(arg)
		b.WriteString("' ")
		shown += len(arg) + len("'' ")
	}
	return resp.Error(oneLine(b.String()))
}

func wrongArity(name string) string {
	return "ERR wrong number of arguments for '" + name + "' command"
}

func unknownSubcommand(container string, sub []byte) string {
	return oneLine("ERR unknown subcommand '" + string(cut(sub, 128)) + "'. Try " + strings.ToUpper(container) + " HELP.")
}

func unsupportedOption(option []byte) string {
	return oneLine("ERR Unsupported option " + string(cut(option, 128)))
}

func invalidExpire(name string) string { return grammar.InvalidExpire(name) }

func aboveMaxTTL(name string, max time.Duration) string {
	return invalidExpire(name) + ": above max_ttl of " + strconv.FormatInt(max.Milliseconds(), 10) + " ms"
}

func deniedText(name string) string {
	return "ERR '" + name + "' is denied by redlockd's configuration (deny)"
}

func notALockScript(did string) string {
	return oneLine("ERR This script is not a lock script: it " + did)
}

// notInExec is the error text for what cannot be one conditional operation on a majority.
func notInExec(name string) string {
	return "ERR redlockd does not run '" + name + "' beside other commands or watched keys in EXEC, nothing was done"
}

func notATransaction(did string) string {
	return oneLine("ERR This transaction cannot be carried out: it " + did + ", nothing was done")
}

// oneLine removes line breaks that a client or script wrote, which would end the error.
func oneLine(text string) string { return lineBreaks.Replace(text) }

var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

func cut(b []byte, n int) []byte { return b[:min(len(b), n)] }

// Failed returns the reply to an error of package quorum.
func Failed(err error) resp.Reply {
	var undecided *quorum.UndecidedError
	return resp.Reply{Kind: resp.KindError, Undecided: errors.As(err, &undecided), Text: oneLine(err.Error())}
}
