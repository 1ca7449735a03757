package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
)

// unknownCommand returns the error for a command that redlockd does not serve, in Redis's
// words, which clients match. If Redis has the command it adds why (C4).
func unknownCommand(stats *history.Counters, name []byte, args [][]byte) resp.Reply {
	stats.CountRefused(resp.Clean(name, 32))
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.WriteString(resp.Clean(args[0], 128))
	b.WriteString("', with args beginning with: ")
	begin := b.Len()
	for _, a := range args[1:] {
		if b.Len()-begin >= 128 {
			break
		}
		b.WriteString("'" + resp.Clean(a, 128-(b.Len()-begin)) + "' ")
	}
	if redisHas[string(name)] {
		b.WriteString(", redlockd serves locks only")
	}
	if instead := insteadOf[string(name)]; instead != "" {
		b.WriteString("; " + instead)
	}
	return resp.Error(b.String())
}

// insteadOf says why a command of lock clients is not served, or what an operator at
// redis-cli may use instead.
var insteadOf = map[string]string{
	"pubsub":   "it cannot count the subscribers at another redlockd",
	"monitor":  "SLOWLOG GET, CLIENT LIST and LOCKS LIST tell what goes on",
	"flushall": "LOCKS FORCE removes one",
	"flushdb":  "LOCKS FORCE removes one",
	"shutdown": "SIGTERM stops it",
}

// redisHas are the commands of Redis that redlockd does not serve.
var redisHas = func() map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(redisOnly) {
		m[name] = true
	}
	return m
}()

const redisOnly = `
append bgrewriteaof bgsave bitcount bitfield bitfield_ro bitop bitpos blmove blmpop
brpoplpush bzmpop bzpopmax bzpopmin copy debug decr decrby dump failover fcall fcall_ro flushall
flushdb function geoadd geodist geohash geopos georadius georadius_ro georadiusbymember
georadiusbymember_ro geosearch geosearchstore getbit getrange hincrbyfloat hmset hrandfield hscan hstrlen incr incrby
incrbyfloat lcs lindex linsert lmove lmpop lolwut lpop lpos lpush lpushx lrange
lrem lset ltrim memory migrate module monitor move mset object pfadd pfcount pfdebug pfmerge
pfselftest psync pubsub randomkey rename renamenx replconf replicaof restore restore-asking rpop rpoplpush
rpush rpushx sadd save scard sdiff sdiffstore setbit setrange shutdown sinter sintercard
sinterstore sismember slaveof smembers smismember smove sort sort_ro spop srandmember srem sscan
substr sunion sunionstore swapdb sync xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending
xrange xread xreadgroup xrevrange xsetid xtrim zadd zcard zcount zdiff zdiffstore zincrby zinter
zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin zrandmember zrange zrangebylex
zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange
zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore waitaof hexpire hpexpire httl hpersist hgetex hsetex hgetdel
hexpireat hexpiretime hpexpireat hpexpiretime hpttl vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember
vrem vsetattr vsim xackdel xdelex
`
