package integration

// none is a step that is not answered, several one that has n answers.
func none(s step) step           { s.frames = -1; return s }
func several(n int, s step) step { s.frames = n; return s }

const (
	s3 = "S3: redlockd's own"
	// noCount is the reply to all forms of PUBSUB, noEvents that to who subscribes to the
	// events of keys.
	noCount     = `-ERR unknown command 'PUBSUB'[^\r]* it cannot count the subscribers at another redlockd\r\n`
	noEvents    = `-ERR redlockd sends no keyspace notifications[^\r]*\r\n`
	noEventsWhy = "C4: who waits for one might wait for ever"
	inExec      = "S4: nothing is done by half, and no array holds an error"
)

// sessionCases are what the authors of clients know of a session: replies
// switched off, the subscriber mode of RESP2, what MULTI takes and refuses.
var sessionCases = []sameCase{
	{"replies off", []step{
		none(c("CLIENT REPLY OFF")), none(c("PING")), none(c("SET @k t NX PX 60000")), none(c("NONSENSE")), none(c("SET @k")),
		c("CLIENT REPLY ON"), c("GET @k"),
		none(c("CLIENT REPLY SKIP")), none(c("PING")), c("PING"), none(c("CLIENT REPLY SKIP")), none(c("GET @k")), c("GET @none"),
		none(c("CLIENT REPLY SKIP")), none(c("CLIENT REPLY SKIP")), none(c("PING")), c("PING"),
		none(c("CLIENT REPLY OFF")), none(c("CLIENT REPLY SKIP")), none(c("PING")), none(c("PING")), c("CLIENT REPLY ON"),
		none(c("CLIENT REPLY SKIP")), c("CLIENT REPLY ON"), c("CLIENT REPLY NONSENSE"), c("CLIENT REPLY"), c("PING"),
	}},
	{"replies off, MULTI", []step{
		none(c("CLIENT REPLY OFF")), none(c("MULTI")), none(c("SET @k t NX PX 60000")), none(c("EXEC")), c("CLIENT REPLY ON"), c("GET @k"),
		none(c("CLIENT REPLY SKIP")), none(c("MULTI")), c("DEL @k"), c("EXEC"), c("GET @k"),
		none(c("CLIENT REPLY OFF")), c("RESET"), c("PING"),
	}},
	{"replies off, SUBSCRIBE", []step{
		none(c("CLIENT REPLY OFF")), several(2, c("SUBSCRIBE @a @b")), c("PSUBSCRIBE @*"), c("PUNSUBSCRIBE"), several(2, c("UNSUBSCRIBE @b @a")),
		c("CLIENT REPLY ON"),
	}},
	{"subscriber mode", []step{
		several(3, c("SUBSCRIBE @a @b @a")), c("PSUBSCRIBE @p*"), c("PING"), c("PING hi"), c("PING a b"), c("GET @k"), c("ECHO x"),
		c("UNSUBSCRIBE @none"), c("UNSUBSCRIBE @a"), c("UNSUBSCRIBE"), c("PUNSUBSCRIBE"), c("PING"), c("GET @k"),
		c("UNSUBSCRIBE"), c("PUNSUBSCRIBE @x"), c("SUNSUBSCRIBE"), c("SUBSCRIBE"), c("SSUBSCRIBE @a"), c("SUNSUBSCRIBE @a"),
	}},
	{"subscriber mode, transactions", []step{
		c("SUBSCRIBE @a"), c("EXEC"), c("DISCARD"), c("RESET"), c("GET @k"), c("EXEC"),
	}},
	{"messages", []step{
		c("SUBSCRIBE @a"), on(1, c("PUBLISH @a hello")), on(1, c("PUBLISH @b hello")), raw(""),
		c("PSUBSCRIBE @*"), on(1, c("PUBLISH @b hello")), raw(""), c("UNSUBSCRIBE"), c("PUNSUBSCRIBE"), on(1, c("PUBLISH @a hello")),
		c("SSUBSCRIBE @s"), on(1, c("SPUBLISH @s hello")), on(1, c("PUBLISH @s hello")), raw(""), c("SUNSUBSCRIBE"),
	}},
	{"PUBSUB", []step{
		c("SUBSCRIBE @a"), on(1, differs(c("PUBSUB CHANNELS @*"), noCount, c4)), on(1, differs(c("PUBSUB NUMSUB @a @b"), noCount, c4)),
		on(1, differs(c("PUBSUB SHARDNUMSUB @a"), noCount, c4)), on(1, differs(c("PUBSUB SHARDCHANNELS"), noCount, c4)),
		on(1, differs(c("PUBSUB NUMPAT"), noCount, c4)), on(1, c("PUBLISH @a hello")),
	}},
	{"keyspace notifications", []step{
		c("CONFIG GET notify-keyspace-events"), c("PSUBSCRIBE *"), c("PUNSUBSCRIBE *"), c("SSUBSCRIBE __keyspace@0__:k"), c("SUNSUBSCRIBE"),
		differs(c("SUBSCRIBE __keyspace@0__:k"), noEvents, noEventsWhy), c("RESET"), c("GET @k"),
		differs(c("PSUBSCRIBE __keyevent@*__:expired"), noEvents, noEventsWhy), c("RESET"),
	}},
	{"RESET inside", []step{
		c("MULTI"), c("SET @k t NX PX 60000"), c("RESET"), c("EXEC"), c("GET @k"),
		c("SELECT 3"), c("CLIENT SETNAME me"), c("MULTI"), c("RESET"), c("CLIENT GETNAME"), c("SET @k t NX PX 60000"), c("RESET x"),
		c("WATCH @k"), on(1, c("DEL @k")), c("RESET"), c("MULTI"), c("PING"), c("EXEC"),
	}},
	{"HELLO and AUTH", []step{
		c("HELLO 3 SETNAME"), c("HELLO 3 FOO"), c("HELLO 3 AUTH x"), c("HELLO 3 AUTH default"), c("HELLO 1"), c("HELLO 4"), c("HELLO 3.0"), c("HELLO +3"),
		a("HELLO", "3", "SETNAME", "a b"), c("GET @k"), c("CLIENT GETNAME"), a("HELLO", "3", "AUTH", "default", "x", "SETNAME", "b c"), c("CLIENT GETNAME"),
		c("HELLO 3 AUTH nobody x"), c("AUTH nobody x"), c("AUTH a b c"), c("AUTH x"),
		c("MULTI"), c("AUTH x"), c("AUTH nobody x"), c("HELLO 9"), c("EXEC"), c("GET @k"),
		c("MULTI"), differs(c("HELLO 3 AUTH default x SETNAME bob"), `\+QUEUED\r\n`, s3),
		differs(c("EXEC"), `\*1\r\n%7\r\n.*\$5\r\nproto\r\n:3\r\n.*`, "the version and the id"), c("CLIENT GETNAME"), c("GET @k"),
	}},
	{"errors inside MULTI", []step{
		c("MULTI"), c("GET"), c("EXEC"), c("MULTI"), c("GET @k @k"), c("PING"), c("EXEC"), c("MULTI"), c("CLIENT"), c("EXEC"), c("MULTI"), c("CLIENT FOO"), c("EXEC"),
		c("MULTI"), c("CONFIG GET"), c("EXEC"), c("MULTI"), c("CONFIG RESETSTAT x"), c("EXEC"), c("MULTI"), c("ECHO"), c("EXEC"), c("MULTI"), c("SELECT"), c("EXEC"),
		c("MULTI"), c("EVAL"), c("EXEC"), c("MULTI"), c("SCRIPT"), c("EXEC"), c("MULTI"), c("SCRIPT FOO"), c("EXEC"), c("MULTI"), c("NONSENSE"), c("EXEC"), c("EXEC"),
		c("MULTI"), c("EXEC x"), c("PING"), c("MULTI"), c("DISCARD x"), c("EXEC"), c("MULTI"), c("MULTI x"), c("EXEC"), c("UNWATCH x"), c("WATCH"),
		c("MULTI"), c("WATCH"), c("EXEC"), c("MULTI"), c("WATCH @k"), c("PING"), c("EXEC"),
	}},
	{"EXECABORT ends the watch", []step{
		c("SET @k t NX PX 60000"), c("WATCH @k"), c("MULTI"), c("NONSENSE"), c("EXEC"), on(1, c("DEL @k")), c("MULTI"), c("PING"), c("GET @k"), c("EXEC"),
	}},
	{"UNWATCH inside MULTI", []step{
		c("SET @k t NX PX 60000"), c("WATCH @k"), on(1, c("DEL @k")), c("MULTI"), c("UNWATCH"), c("GET @k"), c("EXEC"),
		c("WATCH @k"), c("MULTI"), c("UNWATCH"), c("GET @k"), c("EXEC"),
	}},
	{"commands of the connection inside MULTI", []step{
		c("MULTI"), c("PING"), c("PING x"), c("ECHO y"), c("CLIENT SETNAME bob"), c("CLIENT GETNAME"), c("CONFIG GET databases"), c("SELECT 1"), c("SELECT 99"), c("EXEC"),
		c("SELECT 0"), c("MULTI"), c("PING"), c("SET @k t NX PX 60000"), c("ECHO x"), c("GET @k"), c("PUBLISH @c x"), c("EXEC"),
		c("SET @l t NX PX 60000"), c("WATCH @l"), on(1, c("DEL @l")), c("MULTI"), c("PING"), c("EXEC"), c("MULTI"), c("PING"), c("EXEC"),
	}},
	{"what EXEC refuses", []step{
		c("MULTI"), c("SET @k t PX 0"), c("PING"), differs(c("EXEC"), `-ERR invalid expire time in 'set' command\r\n`, inExec),
		c("MULTI"), c("SET @k t PX 60000"), c("SET @k t NX XX"), c("GET @k"), differs(c("EXEC"), `-ERR syntax error\r\n`, inExec),
		differs(c("GET @k"), `(\$-1|_)\r\n`, inExec), c("DEL @none"),
		c("MULTI"), c("SELECT 1"), c("SET @k t PX 60000"), differs(c("EXEC"), `-EXECABORT [^\r]*in one transaction\.\r\n`, inExec),
		c("SELECT 1"), differs(c("GET @k"), `(\$-1|_)\r\n`, inExec), c("SELECT 0"), differs(c("DEL @k"), `:0\r\n`, inExec),
		c("WATCH @k"), c("SELECT 1"), c("MULTI"), c("SET @k t PX 60000"),
		differs(c("EXEC"), `-ERR redlockd runs EXEC only in the database of the watched keys, nothing was done\r\n`, "M3: a batch has one database"),
		differs(c("GET @k"), `(\$-1|_)\r\n`, "M3: a batch has one database"),
		c("MULTI"), differs(c("SUBSCRIBE @c"), `-ERR [^\r]*transaction\r\n`, s3), differs(c("EXEC"), `-EXECABORT [^\r]*\r\n`, s3),
	}},
	{"inline, quoted", []step{
		raw("ping \"hello world\"\r\n"), raw("echo 'it\\'s'\r\n"), raw("echo \"a\\x41\\n\\t\\\"q\"\r\n"), raw("echo \"\"\r\n"), raw("echo ''\r\n"), raw("\"ping\"\r\n"),
		raw("MULTI\r\n"), c("PING"), raw("exec\r\n"),
	}},
	{"CLIENT and CONFIG", []step{
		c("CLIENT GETNAME"), a("CLIENT", "SETNAME", "a b"), a("CLIENT", "SETNAME", ""), c("CLIENT SETNAME"), c("CLIENT SETNAME a b"), c("CLIENT ID x"),
		c("CLIENT NO-EVICT on"), c("CLIENT NO-EVICT"), c("CLIENT NO-EVICT x"), c("CLIENT TRACKING"), c("CLIENT TRACKING x"), c("CLIENT CACHING yes"),
		c("CLIENT TRACKINGINFO"), c("CLIENT GETREDIR"), c("CLIENT TRACKING ON OPTIN"), c("CLIENT TRACKINGINFO"), c("CLIENT GETREDIR"), c("CLIENT CACHING no"),
		c("CLIENT CACHING x"), c("CLIENT TRACKING OFF"), c("CLIENT TRACKINGINFO"), c("CLIENT LIST TYPE x"), c("CLIENT LIST ID x"), c("CLIENT LIST ID 0"),
		c("CLIENT LIST FOO"), c("CLIENT LIST TYPE master"), c("CLIENT INFO x"), c("CLIENT UNPAUSE"), c("CLIENT UNPAUSE x"),
		differs(c("CLIENT TRACKING ON BCAST"), `-ERR redlockd sends no invalidations[^\r]*\r\n`, s3), differs(c("CLIENT TRACKING ON"), `-ERR redlockd sends no invalidations[^\r]*\r\n`, s3),
		differs(c("CLIENT TRACKING ON OPTOUT"), `-ERR redlockd sends no invalidations[^\r]*\r\n`, s3), differs(c("CLIENT CAPA redirect"), `\+OK\r\n`, noSuchCommand),
		differs(c("CLIENT SETINFO LIB-NAME x"), `\+OK\r\n`, noSuchCommand),
		c("CONFIG GET databases"), c("CONFIG GET DATABASES"), c("CONFIG GET nosuch"), c("CONFIG GET time*t"), c("CONFIG"), c("CONFIG FOO"), c("CONFIG GET appendonly"),
		c("CONFIG GET save"), c("CONFIG GET databases databases"), c("CONFIG RESETSTAT"), c("CONFIG RESETSTAT x"), c("CONFIG GET cluster-enabled"), c("CONFIG GET maxmemory-policy"),
	}},
	{"strays", []step{
		c("CLUSTER"), c("CLUSTER SLOTS"), c("CLUSTER MYID"), c("SENTINEL"), c("READWRITE"), c("WAIT 0 0"), c("WAIT 0"), c("WAIT a 0"), c("WAIT 0 a"), c("WAIT 0 -1"),
		c("LATENCY"), c("LATENCY LATEST"), c("LATENCY HISTORY x"), c("LATENCY RESET"), c("LATENCY FOO"), c("SLOWLOG RESET"), c("SLOWLOG GET x"),
		c("SLOWLOG"), c("ACL WHOAMI"), c("ACL FOO"), c("DBSIZE x"), c("SCAN x"), c("SCAN 0 MATCH"), c("SCAN 0 COUNT x"), c("SCAN 0 COUNT 0"), c("ROLE x"), c("TIME x"), c("LASTSAVE x"),
		c("COMMAND COUNT x"), c("COMMAND FOO"), c("COMMAND INFO nosuch"), c("COMMAND GETKEYS GET a"), c("COMMAND GETKEYS EVAL x 2 a b c"), c("COMMAND GETKEYS PING"),
		c("COMMAND GETKEYS NOSUCH a"), c("COMMAND GETKEYS GET"), c("COMMAND GETKEYS MGET a b"), c("COMMAND GETKEYS WATCH a b"), c("COMMAND DOCS nosuch"), c("INFO nosuch"),
		c("BLPOP @k"), c("BLPOP @k x"), c("BLPOP @k -1"), c("BLPOP @k 0.01"), c("BRPOP @j @k 0.01"),
	}},
}
