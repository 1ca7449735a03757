package proxy

import (
	"strings"
	"testing"
)

const onlySubscribe = ": only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n"

func TestSubscriberMode(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.ask("SUBSCRIBE a b", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n")
	c.ask("GET x", "-ERR Can't execute 'get'"+onlySubscribe)
	c.ask("HELLO 3", "-ERR Can't execute 'hello'"+onlySubscribe)
	c.ask("PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n")
	c.ask("PING hi", "*2\r\n$4\r\npong\r\n$2\r\nhi\r\n")
	c.ask("PSUBSCRIBE x*", "*3\r\n$10\r\npsubscribe\r\n$2\r\nx*\r\n:3\r\n")
	c.ask("SSUBSCRIBE s", "*3\r\n$10\r\nssubscribe\r\n$1\r\ns\r\n:1\r\n")
	c.ask("UNSUBSCRIBE zz", "*3\r\n$11\r\nunsubscribe\r\n$2\r\nzz\r\n:3\r\n")
	c.ask("UNSUBSCRIBE", "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:2\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:1\r\n")
	c.ask("PUNSUBSCRIBE", "*3\r\n$12\r\npunsubscribe\r\n$2\r\nx*\r\n:0\r\n")
	c.ask("SUNSUBSCRIBE", "*3\r\n$12\r\nsunsubscribe\r\n$1\r\ns\r\n:0\r\n")
	c.ask("UNSUBSCRIBE", "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n")
	c.ask("READ k", "$-1\r\n")
}

func TestPublish(t *testing.T) {
	srv := start(t, nil)
	sub, pub := srv.dial(t), srv.dial(t)
	sub.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	sub.ask("PSUBSCRIBE c*", "*3\r\n$10\r\npsubscribe\r\n$2\r\nc*\r\n:2\r\n")
	pub.ask("PUBLISH c m", ":2\r\n")
	sub.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n*4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$1\r\nc\r\n$1\r\nm\r\n")
	pub.ask("PUBLISH other m", ":0\r\n")
	sub.ask("RESET", "+RESET\r\n")
	pub.ask("PUBLISH c m", ":0\r\n")
}

// A count could be too small, since others may subscribe at another redlockd: a client that
// takes "nobody else" for a lock would take another's.
func TestSubscribersAreNotCounted(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	for words, args := range map[string]string{
		"NUMSUB ch": "'NUMSUB' 'ch' ", "CHANNELS": "'CHANNELS' ", "NUMPAT": "'NUMPAT' ", "SHARDNUMSUB ch": "'SHARDNUMSUB' 'ch' ", "SHARDCHANNELS": "'SHARDCHANNELS' ",
	} {
		c.ask("PUBSUB "+words, "-ERR unknown command 'PUBSUB', with args beginning with: "+args+
			", redlockd serves locks only; it cannot count the subscribers at another redlockd\r\n")
	}
}

// Whoever subscribes to the events of keys is told at once that none will come, and is not
// subscribed to the other names of the command either.
func TestNoKeyspaceNotifications(t *testing.T) {
	const refused = "-ERR redlockd sends no keyspace notifications, so it takes no subscription that begins with '__key'\r\n"
	srv := start(t, nil)
	c := srv.dial(t)
	for _, command := range []string{"SUBSCRIBE __keyspace@0__:k", "SUBSCRIBE a __keyevent@0__:del", "PSUBSCRIBE __keyspace@*", "PSUBSCRIBE a* __key*:expired b*"} {
		c.ask(command, refused)
		c.ask("READ k", "$-1\r\n") // not in subscriber mode
	}
	c.ask("PUBLISH a m", ":0\r\n")
	c.ask("PSUBSCRIBE *", "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n")
	c.ask("SSUBSCRIBE __keys", "*3\r\n$10\r\nssubscribe\r\n$6\r\n__keys\r\n:1\r\n")
}

// A message that says "free" must not overtake the release before it.
func TestPublishKeepsItsPlace(t *testing.T) {
	srv := start(t, nil)
	sub, pub := srv.dial(t), srv.dial(t)
	sub.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	srv.q.hold("0/k")
	pub.send("FREE k\r\nPUBLISH c free\r\n")
	wait(t, "the release", srv.q.asked)
	srv.dial(t).ask("PUBLISH c before", ":1\r\n")
	sub.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$6\r\nbefore\r\n")
	srv.q.release("0/k")
	pub.want(":0\r\n:1\r\n")
	sub.want("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$4\r\nfree\r\n")
}

func TestPublishResp3(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	c.send("HELLO 3\r\n")
	for line := ""; line != "*0\r\n"; {
		var err error
		if line, err = c.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c.ask("SUBSCRIBE c", ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	c.ask("READ k", "_\r\n")
	srv.dial(t).ask("PUBLISH c m", ":1\r\n")
	c.want(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
	c.ask("PING", "+PONG\r\n")
}

// A subscriber that does not read is closed, and nobody else waits for it.
func TestSlowSubscriber(t *testing.T) {
	srv := start(t, nil)
	slow, pub := srv.dial(t), srv.dial(t)
	slow.ask("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	message := frame("PUBLISH", "c", strings.Repeat("x", 1<<19))
	for range 1000 {
		pub.send(message)
		line, err := pub.r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == ":0\r\n" {
			return
		}
	}
	t.Error("messages are kept without bound")
}

func TestSubscriptionsAreBounded(t *testing.T) {
	srv := start(t, nil)
	c := srv.dial(t)
	big := strings.Repeat("x", maxSubscriptionBytes/2)
	c.send(frame("SUBSCRIBE", big))
	c.want("*3\r\n$9\r\nsubscribe\r\n$524288\r\n" + big + "\r\n:1\r\n")
	c.send(frame("SUBSCRIBE", "y"+big))
	c.want("-ERR too many subscriptions for one connection\r\n")
}
