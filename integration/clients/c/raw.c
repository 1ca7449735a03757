// The steps of a lock by hiredis, with threads.

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RELEASE "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
#define EXTEND "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"

static const char *host;
static int port;
static char key[200];

static redisContext *dial(void) {
	redisContext *c = redisConnect(host, port);
	if (c == NULL || c->err) {
		fprintf(stderr, "connect: %s\n", c ? c->errstr : "no memory");
		exit(1);
	}
	return c;
}

// text writes a reply as JSON.
static void text(redisReply *r, char *out, size_t size) {
	if (r == NULL) {
		snprintf(out, size, "\"FAILED: the connection broke\"");
		return;
	}
	switch (r->type) {
	case REDIS_REPLY_NIL:
		snprintf(out, size, "null");
		break;
	case REDIS_REPLY_INTEGER:
		snprintf(out, size, "%lld", r->integer);
		break;
	case REDIS_REPLY_ARRAY: {
		size_t n = (size_t)snprintf(out, size, "[");
		for (size_t i = 0; i < r->elements; i++) {
			char inner[500];
			text(r->element[i], inner, sizeof inner);
			n += (size_t)snprintf(out + n, size - n, "%s%s", i ? "," : "", inner);
		}
		snprintf(out + n, size - n, "]");
		break;
	}
	default:
		snprintf(out, size, "\"%s%s\"", r->type == REDIS_REPLY_ERROR ? "error " : "", r->str);
	}
}

static void tell(const char *step, const char *json) {
	printf("{\"%s\":%s}\n", step, json);
	fflush(stdout);
}

static void step(const char *name, redisContext *c, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	redisReply *r = redisvCommand(c, format, ap);
	va_end(ap);
	char json[2000];
	text(r, json, sizeof json);
	tell(name, json);
	if (r != NULL) freeReplyObject(r);
}

static int took(redisContext *c, const char *token, int ms) {
	redisReply *r = redisCommand(c, "SET %s %s NX PX %d", key, token, ms);
	int ok = r != NULL && r->type == REDIS_REPLY_STATUS;
	if (r != NULL) freeReplyObject(r);
	return ok;
}

static long long number(redisContext *c, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	redisReply *r = redisvCommand(c, format, ap);
	va_end(ap);
	long long n = r != NULL && r->type == REDIS_REPLY_INTEGER ? r->integer : -100;
	if (r != NULL) freeReplyObject(r);
	return n;
}

static long long give_back(redisContext *c, const char *token) {
	return number(c, "EVAL %s 1 %s %s", RELEASE, key, token);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int poll_take(redisContext *c, const char *token, double seconds) {
	for (double end = now() + seconds; !took(c, token, 30000); usleep(5000))
		if (now() > end) return 0;
	return 1;
}

static const char *yes(int ok) { return ok ? "true" : "false"; }

static void *release_later(void *token) {
	redisContext *c = dial();
	usleep(300000);
	give_back(c, token);
	redisFree(c);
	return NULL;
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int inside, most, done, failed;

static void *contend(void *arg) {
	const char *token = arg;
	redisContext *c = dial();
	for (int i = 0; i < 5; i++) {
		int ok = poll_take(c, token, 20);
		pthread_mutex_lock(&guard);
		failed += !ok;
		if (++inside > most) most = inside;
		pthread_mutex_unlock(&guard);
		usleep(1000);
		pthread_mutex_lock(&guard);
		inside--;
		done++;
		pthread_mutex_unlock(&guard);
		if (give_back(c, token) != 1) failed++;
	}
	redisFree(c);
	return NULL;
}

static void contest(const char *name, int equal) {
	pthread_t threads[6];
	char tokens[6][20], json[100];
	inside = most = done = failed = 0;
	for (int w = 0; w < 6; w++) {
		snprintf(tokens[w], sizeof tokens[w], "worker %d", equal ? 0 : w);
		pthread_create(&threads[w], NULL, contend, tokens[w]);
	}
	for (int w = 0; w < 6; w++) pthread_join(threads[w], NULL);
	snprintf(json, sizeof json, "{\"rounds\":%d,\"at once\":%d,\"failed\":%d}", done, most, failed);
	tell(name, json);
}

static void transaction(redisContext *c, redisContext *meddler, const char *name, int meddle) {
	freeReplyObject(redisCommand(c, "WATCH %s", key));
	freeReplyObject(redisCommand(c, "GET %s", key));
	if (meddle) {
		give_back(meddler, "one");
		took(meddler, "two", 30000);
	}
	freeReplyObject(redisCommand(c, "MULTI"));
	freeReplyObject(redisCommand(c, "PEXPIRE %s 20000", key));
	step(name, c, "EXEC");
}

int main(int argc, char **argv) {
	host = argv[argc - 3];
	port = atoi(argv[argc - 2]);
	snprintf(key, sizeof key, "%sraw", argv[argc - 1]);
	char json[200];
	snprintf(json, sizeof json, "\"%d.%d.%d\"", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
	tell("version", json);

	redisContext *c = dial(), *other = dial(), *meddler = dial();
	step("take", c, "SET %s one NX PX 30000", key);
	step("refuse", c, "SET %s two NX PX 30000", key);
	step("query", c, "GET %s", key);
	long long ms = number(c, "PTTL %s", key);
	tell("ttl", yes(ms > 25000 && ms <= 30000));
	step("extend", c, "EVAL %s 1 %s one 60000", EXTEND, key);
	ms = number(c, "PTTL %s", key);
	tell("extended", yes(ms > 55000 && ms <= 60000));
	step("extend wrong", c, "EVAL %s 1 %s two 60000", EXTEND, key);
	step("extend missing", c, "EVAL %s 1 %snone one 60000", EXTEND, key);
	step("release wrong", c, "EVAL %s 1 %s two", RELEASE, key);
	step("release", c, "EVAL %s 1 %s one", RELEASE, key);
	step("release missing", c, "EVAL %s 1 %s one", RELEASE, key);
	step("query missing", c, "GET %s", key);
	step("unknown hash", c, "EVALSHA 0123456789012345678901234567890123456789 1 %s one", key);
	redisReply *sha = redisCommand(c, "SCRIPT LOAD %s", RELEASE " ");
	took(c, "one", 30000);
	step("by hash", c, "EVALSHA %s 1 %s one", sha->str, key);
	step("by hash, missing", c, "EVALSHA %s 1 %s one", sha->str, key);
	freeReplyObject(sha);
	took(c, "one", 30000);
	transaction(c, meddler, "transaction", 0);
	transaction(c, meddler, "transaction, changed", 1);
	step("still held", c, "GET %s", key);
	step("database", other, "SELECT 1");
	step("database, query", other, "GET %s", key);
	step("database, take", other, "SET %s one NX PX 30000", key);
	step("database, release", other, "EVAL %s 1 %s one", RELEASE, key);
	step("database, still held", c, "GET %s", key);
	give_back(c, "two");
	redisAppendCommand(c, "SET %s one NX PX 30000", key);
	redisAppendCommand(c, "GET %s", key);
	redisAppendCommand(c, "DEL %s", key);
	for (int i = 0; i < 3; i++) {
		redisReply *r = NULL;
		redisGetReply(c, (void **)&r);
		char name[20];
		snprintf(name, sizeof name, "pipeline %d", i);
		text(r, json, sizeof json);
		tell(name, json);
		freeReplyObject(r);
	}
	took(c, "short", 200);
	tell("expire, before", yes(took(c, "two", 30000)));
	tell("expire", yes(poll_take(c, "two", 10)));
	pthread_t later;
	double start = now();
	pthread_create(&later, NULL, release_later, "two");
	int ok = poll_take(c, "three", 10);
	pthread_join(later, NULL);
	tell("wait", yes(ok && now() - start >= 0.29));
	give_back(c, "three");
	contest("many, unique tokens", 0);
	contest("many, equal tokens", 1);
	return 0;
}
