/*
 * One lock on three masters, for spin. README.md says what is modelled, what
 * is left out and why, and how to read a trail; V2, M4, ... are the rules of
 * docs/design.md.
 *
 * Every rule is in unless a -D leaves it out:
 *
 *   NO_TIME_ACQUIRE      V2  votes for an acquire count whenever they come
 *   NO_TIME_EXTEND       V2  the same for an extend
 *   NO_LOOK              V2  no look at the time right before the reply
 *   RENEW_BY_TOKEN       V2  a renewal prolongs what has its token
 *   NO_PADDING           V3  masters are given the TTL, not the hold
 *   SAME_IDS             V6  all attempts have one id
 *   KEEP_ATTEMPT         V6  what is prolonged keeps its attempt
 *   ROLLBACK_BY_ATTEMPT  V6  a rollback deletes what has its attempt
 *   ROLLBACK_BY_LOCK     V6  a rollback deletes what has its lock
 *   ROLLBACK_BY_TOKEN    V6  a rollback deletes what has its token
 *   REPEAT_BY_LOCK       V8  a release is repeated on the locks that it met
 *   REPEAT_BY_TOKEN      V8  a release is repeated on what has its token
 *   HEAL_VOTES           V9  a healed copy counts as a vote
 *   HEAL_ALWAYS          V9  a copy is healed without a majority
 *   HEAL_LATE            V9  an "absent" that comes after the verdict is healed
 *   HEAL_ANY_LOCK        V9  the healed lock need not be that of a majority
 *   NO_FENCE             M3  what a connection sent overtakes the one before
 *   NO_MARK              M3  votes count whatever the mark says
 *   NO_QUARANTINE        M4  a master that forgot votes again at once
 *   SHORT_QUARANTINE     M4  it waits for the TTL, not the hold
 *   NO_SHUT              M4  acquires go to a master in quarantine
 *   COPIES_VOTE          M4  a copy on a master in quarantine counts in an extend
 *   NO_OVER              V15 a lock is over when its copies expire
 *   NO_GRACE             V15 it is over at its end, though its reply may leave later
 *   OVER_BY_ONE          V15 it is over when one of its copies is
 *   OVER_OF_NEW          V15 what prolongs a copy gives it the end that it asks for
 *   OVER_OF_OLD          V15 it leaves the copy the end that it has
 *   OVER_OF_EXPIRY       V15 the end goes with the later expiry
 *   DELETE_OVER          V15 a master deletes what is over
 *   EXTEND_DELETES       V15 an extend deletes what is over
 *   RETAKE_OVER          V15 an acquire-or-extend takes what is over as absent
 *   OVER_BARE            V15 a bare copy, which has no end, is over
 *
 * These make the world: OPS0, OPS1, OPS2 (operations of each redlockd), AOE,
 * EXTEND, RELEASE, RENEW (what else than acquires), ONCE (a client acquires
 * first and never again), EQUAL (one token for all), ELSEWHERE (one client uses
 * R1 and R2, with one token; R3's has another), IN_TURN (R2 begins when R1 has
 * done all, then R3), LOSSES (restarts), FLUSHES (losses that keep the
 * connections), UNSEEN (losses that nobody sees), CUTS (of connections), STEPS
 * (of clocks, ahead and too small to be seen), SLOWS (the same, back), BARE (R1's
 * client has a bare copy on m1, which is required), TTL, TTL1 (that of R2),
 * TIMEOUT. FULL asserts only that a lock on all masters is exclusive, RELEASED
 * that a lock that was released is not healed, HONEST that the client of R1 and
 * R2 is not told too early or too late that its lock is over (EXACT: not by a
 * step either). SORT makes the search smaller, see README.md.
 */

#ifndef TTL
#define TTL 1
#endif
#ifdef TTL1
#define TTL_OF(n) (n == 1 -> TTL1 : TTL)
#else
#define TTL_OF(n) TTL
#endif
#ifndef TIMEOUT
#define TIMEOUT 1
#endif
#ifndef OPS0
#define OPS0 2
#endif
#ifndef OPS1
#define OPS1 1
#endif
#ifdef OPS2
#define NODES 3
#else
#define NODES 2
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef FLUSHES
#define FLUSHES 0
#endif
#ifndef UNSEEN
#define UNSEEN 0
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef STEPS
#define STEPS 0
#endif
#ifndef SLOWS
#define SLOWS 0
#endif

#ifndef AOE
#define AOE 0
#endif
#ifndef EXTEND
#define EXTEND 0
#endif
#ifndef RELEASE
#define RELEASE 0
#endif
#ifndef RENEW
#define RENEW 0
#endif

/* How long masters keep a lock, and when it is over, both from the first byte.
   Only a TTL of 3 or more has a tick of drift. */
#define DRIFT(n) (TTL_OF(n) / 3)
#ifdef NO_PADDING
#define HOLD(n) TTL
#else
#define HOLD(n) (TTL_OF(n) + 2 * TIMEOUT + DRIFT(n))
#endif
#ifdef NO_OVER
#define OVER(n) HOLD(n)
#elif defined(NO_GRACE)
#define OVER(n) TTL_OF(n)
#else
#define OVER(n) (TTL_OF(n) + TIMEOUT)
#endif
#ifdef SHORT_QUARANTINE
#define WAIT TTL
#else
#define WAIT (TTL + 2 * TIMEOUT + (STEPS > 0 -> TIMEOUT : 0)) /* its clock may step, too */
#endif

mtype = { idle, asked, won };
mtype = { acquire, acquire_or_extend, extend, heal, release, renew };
/* Votes that lead to the same are one: awaited is also what was carried out
   and does not count, refused also what was not sent (M1), and absent also
   the "absent" of a master in quarantine. */
mtype = { awaited, created, prolonged, deleted, refused, absent };

#define SLOTS 2
#define PENDING 128 /* added to the mark that something was sent under */

/* What a copy says of itself. */
typedef Copy {
	byte lock;    /* the attempt that created it; whatever prolongs it keeps that */
	byte attempt; /* the last one that gave it to a client */
}

/* What is between one redlockd and one master. */
typedef Line {
	mtype op[SLOTS];   /* sent and not carried out, in order */
	byte attempt[SLOTS];
	byte lock[SLOTS];  /* of a heal */
	byte age[SLOTS];   /* since the attempt's first byte */
	byte under[SLOTS]; /* the mark it was sent under */
	mtype vote;        /* on the attempt under way */
	Copy met;          /* what the last extend prolonged, or release deleted */
	bool again;        /* that release is to be repeated here */
	byte owed;         /* the attempt that is to be rolled back */
}

typedef Master {
	byte token; /* 0: there is no key */
	Copy copy;
	byte left;  /* until it expires */
	byte over;  /* until its client's TTL is over; 0: it is */
	byte mark;  /* counts the losses: each makes another mark */
	byte wait;  /* above 0: the mark is pending, in quarantine for so long */
#if STEPS
	bool ahead; /* its clock has stepped */
#endif
	Line line[NODES];
}

/* A redlockd with one client. */
typedef Node {
	byte done;   /* operations begun */
	mtype op;
	mtype phase;
	byte age;    /* since the first byte; more than TIMEOUT is late */
	byte holds;  /* how long its client was told to have the lock */
	bool told;   /* it may extend: it was told, and has not begun anew */
	bool all;    /* all masters had the lock when it was told */
#ifdef RELEASED
	byte freed;  /* the locks that its releases met, a bit for each */
#endif
#ifdef HEAL_LATE
	byte extended; /* its last extend that was won */
	byte its_lock; /* what that healed */
#endif
#ifdef HONEST
	byte sure;   /* how long its client has the lock, as far as known at the first byte */
	byte due;    /* until what it last asked for is over by the slowest clock */
	bool ended;  /* all that the client had asked for was over at the first byte */
#endif
}

Master m[3];
Node r[NODES];
byte losses;
byte cuts;
byte steps;
byte slows;

/* Scratch, 0 between steps. */
byte v;
byte attempt;
byte lock;
byte age;
byte under;
byte room;
bool second_holder;
bool is_back;
bool told_early;
bool told_late;

#ifdef EQUAL
#define TOKEN(n) 1
#elif defined(ELSEWHERE)
#define TOKEN(n) (n == 2 -> 2 : 1)
#else
#define TOKEN(n) (n + 1)
#endif
/* A redlockd knows the answers to an attempt by its number. In a copy stands
   the attempt's id, which no other one has (V6). */
#define ATTEMPT(n) (16 * n + r[n].done)
#ifdef SAME_IDS
#define ID(a) 1
#else
#define ID(a) a
#endif

#define L m[j].line[n]
#define MINE(j, n) (m[j].token == TOKEN(n))
#define VOTE(j, n, what) (m[j].line[n].vote == what)
#define YES_AT(j, n) (VOTE(j, n, created) || VOTE(j, n, prolonged) || VOTE(j, n, deleted))
#define YES(n) (YES_AT(0, n) + YES_AT(1, n) + YES_AT(2, n))

/* --- lines, and what can be left out of a state --------------------------- */

inline clear(j, n, s) {
	L.op[s] = 0; L.attempt[s] = 0; L.lock[s] = 0; L.age[s] = 0; L.under[s] = 0
}

inline pop(j, n) {
	L.op[0] = L.op[1]; L.attempt[0] = L.attempt[1]; L.lock[0] = L.lock[1];
	L.age[0] = L.age[1]; L.under[0] = L.under[1];
	clear(j, n, 1)
}

inline put(j, n, s, what) {
	L.op[s] = what; L.attempt[s] = attempt; L.lock[s] = lock; L.age[s] = age; L.under[s] = under
}

/* push puts a message (what, attempt, lock, age, under) behind those that were sent
   before, if there is room. */
inline push(j, n, what) {
	room = 1;
	if
	:: L.op[0] == 0 -> put(j, n, 0, what)
	:: L.op[0] != 0 && L.op[1] == 0 -> put(j, n, 1, what)
	:: else -> room = 0
	fi
}

inline forget(j) {
	m[j].token = 0; m[j].copy.lock = 0; m[j].copy.attempt = 0; m[j].left = 0; m[j].over = 0
}

/* Past its time a message changes nothing: a SET because its expiry is over,
   a script by its deadline (V6). A release has none. */
#define DEAD(s) (L.op[s] != 0 && L.op[s] != release && (L.age[s] >= HOLD(n) || L.op[s] != acquire && L.age[s] > TIMEOUT))

#define ON_THE_WAY(j, n, what) (m[j].line[n].op[0] == what || m[j].line[n].op[1] == what)
#define SENT(j, n, a) (m[j].line[n].attempt[0] == a || m[j].line[n].attempt[1] == a)
#define HAS_LOCK(j, n) (m[j].copy.lock == ID(m[j].line[n].owed))
#define HAS_ATTEMPT(j, n) (m[j].copy.attempt == ID(m[j].line[n].owed))

/* What a rollback deletes (V6), and whether it can meet nothing any more, which
   is as good as carried out. */
#if defined(ROLLBACK_BY_TOKEN)
#define TO_UNDO(j, n) MINE(j, n)
#elif defined(ROLLBACK_BY_LOCK)
#define TO_UNDO(j, n) HAS_LOCK(j, n)
#elif defined(ROLLBACK_BY_ATTEMPT)
#define TO_UNDO(j, n) HAS_ATTEMPT(j, n)
#else
#define TO_UNDO(j, n) (HAS_LOCK(j, n) && HAS_ATTEMPT(j, n))
#endif
#if defined(ROLLBACK_BY_TOKEN) || defined(ROLLBACK_BY_LOCK) || defined(SAME_IDS)
#define VAIN false
#else
#define VAIN (L.owed != 0 && !TO_UNDO(j, n) && !SENT(j, n, L.owed))
#endif

inline tidy_line(j, n) {
	if
	:: DEAD(1) -> clear(j, n, 1)
	:: else
	fi;
	if
	:: DEAD(0) -> pop(j, n)
	:: else
	fi;
	if
	:: VAIN -> L.owed = 0
	:: else
	fi
}

#if NODES == 3
#define EACH_NODE(f, j) f(j, 0); f(j, 1); f(j, 2)
#else
#define EACH_NODE(f, j) f(j, 0); f(j, 1)
#endif

#ifdef SORT
/* Masters are alike: of states that differ by their order one will do. */
c_code {
	static void sort_masters(void)
	{	struct Master t;
#define SWAP(a, b) if (memcmp(&now.m[a], &now.m[b], sizeof t) > 0) { t = now.m[a]; now.m[a] = now.m[b]; now.m[b] = t; }
#ifdef BARE
		SWAP(1, 2)
#else
		SWAP(0, 1) SWAP(1, 2) SWAP(0, 1)
#endif
	}
};
#define SORTED c_code { sort_masters(); }
#else
#define SORTED skip
#endif

/* Without one that has the lock, or may get it, and another client that may
   get it, nothing can be found any more: all such states are one. */
#define MAY_GET(n, ops) (r[n].done < ops || r[n].phase != idle)
#define MAY_HAVE(n, ops) (r[n].holds > 0 || MAY_GET(n, ops))
#define PAIR(a, x, b, y) (MAY_GET(a, x) && MAY_HAVE(b, y) || MAY_HAVE(a, x) && MAY_GET(b, y))
#ifdef RELEASED
#define OPEN true
#elif defined(HONEST)
#define OPEN (MAY_GET(0, OPS0) || MAY_GET(1, OPS1))
#elif defined(ELSEWHERE)
#define OPEN (PAIR(0, OPS0, 2, OPS2) || PAIR(1, OPS1, 2, OPS2))
#else
#define OPEN PAIR(0, OPS0, 1, OPS1)
#endif

inline unvote(j, n) { L.vote = 0; L.met.lock = 0; L.met.attempt = 0; L.again = false }
inline unvote_all(n) { unvote(0, n); unvote(1, n); unvote(2, n) }

inline wipe_line(j, n) {
	clear(j, n, 0); clear(j, n, 1); unvote(j, n); L.owed = 0
}
inline wipe_master(j) {
	forget(j); m[j].mark = 0; m[j].wait = 0;
#if STEPS
	m[j].ahead = false;
#endif
	EACH_NODE(wipe_line, j)
}
inline unhold(n) { r[n].holds = 0; r[n].told = false; r[n].all = false }
inline wipe_node(j, n) {
	r[n].done = 255; r[n].op = 0; r[n].phase = idle; r[n].age = 0;
#ifdef HONEST
	r[n].sure = 0; r[n].due = 0; r[n].ended = false;
#endif
	unhold(n)
}
inline wipe() {
	wipe_master(0); wipe_master(1); wipe_master(2);
	EACH_NODE(wipe_node, 0);
	losses = 255; cuts = 255; steps = 255; slows = 255
}

/* Each step ends with what can have changed: the lines of a master, those of a
   node, or all; and with whether it still matters. */
inline end_step() {
	v = 0; attempt = 0; lock = 0; age = 0; under = 0; room = 0;
	SORTED
}
inline tidy_master(j) { EACH_NODE(tidy_line, j) }
inline tidy_node(n) { tidy_line(0, n); tidy_line(1, n); tidy_line(2, n) }
inline end_turn() {
	if
	:: !OPEN -> wipe()
	:: else
	fi;
	end_step()
}

/* --- what a redlockd does ------------------------------------------------- */

inline rest(n) {
	r[n].op = 0; r[n].phase = idle; r[n].age = 0;
#ifdef HONEST
	r[n].sure = 0; r[n].ended = false;
#endif
	m[0].line[n].vote = 0; m[1].line[n].vote = 0; m[2].line[n].vote = 0
}

#ifdef NO_SHUT
#define SHUT(j, what) false
#else
/* M4: what could take the lock is not sent to a master known to be in quarantine. */
#define SHUT(j, what) ((what == acquire || what == acquire_or_extend) && under >= PENDING)
#endif

/* look is the mark that a redlockd knows. A loss is seen behind what was sent
   before over the same connection, or not yet (old). */
#define BEHIND(j, n) (m[j].line[n].op[0] != 0 && (m[j].line[n].under[0] & 127) != m[j].mark)
inline look(j, n, old) {
	under = m[j].mark + (m[j].wait > 0 -> PENDING : 0);
	if
	:: BEHIND(j, n) -> under = L.under[0]
	:: !BEHIND(j, n) && old && m[j].wait > 0 -> under = m[j].mark - 1
	:: else
	fi
}

/* AHEAD is by how much a message is older where its redlockd has not seen a step yet. */
#if STEPS
#define AHEAD(j, old) (old && m[j].ahead)
#else
#define AHEAD(j, old) 0
#endif
inline send(j, n, what, old) {
	look(j, n, old);
	if
	:: SHUT(j, what) -> L.vote = refused
	:: else ->
		attempt = ATTEMPT(n); age = AHEAD(j, old);
		push(j, n, what);
		L.vote = (room || what == release || what == extend -> awaited : refused) /* a full line is silent at once (M1) */
	fi
}

#ifdef IN_TURN
#define AFTER(o, ops) (r[o].done >= ops && r[o].phase == idle)
#define TURN(n) (n == 0 || n == 1 && AFTER(0, OPS0) || n == 2 && AFTER(1, OPS1))
#else
#define TURN(n) true
#endif
/* Of what a client sends while a release of its own is under way, and the other
   way round, nothing is promised. */
#ifdef ELSEWHERE
#define OTHER(n) (n == 2 -> 2 : 1 - n)
#define RELEASES(o) (r[o].op == release || ON_THE_WAY(0, o, release) || ON_THE_WAY(1, o, release) || ON_THE_WAY(2, o, release))
#define MAY_EXTEND(n) ((r[n].done > 0 || r[OTHER(n)].done > 0) && HOLDS(n) <= TTL_OF(n))
#else
#define OTHER(n) n
#define RELEASES(o) false
#define MAY_EXTEND(n) r[n].told
#endif
#define MAY_START(n, ops) (r[n].phase == idle && r[n].done < ops && TURN(n) && !RELEASES(OTHER(n)))
#define MAY_RELEASE(n) (r[n].told && r[OTHER(n)].phase == idle)
#ifdef ONCE
#define MAY_ACQUIRE(n) (r[n].done == 0)
#else
#define MAY_ACQUIRE(n) true
#endif
#define SOME_WAIT (m[0].wait + m[1].wait + m[2].wait > 0)
#if STEPS
#define IS_UNSEEN (SOME_WAIT || m[0].ahead || m[1].ahead || m[2].ahead)
#else
#define IS_UNSEEN SOME_WAIT
#endif
inline send_all(n, what, old) {
	r[n].op = what; r[n].phase = asked; r[n].age = 0;
	unvote_all(n);
	send(0, n, what, old); send(1, n, what, old); send(2, n, what, old)
}

#define LATER(a, b) (a < b -> b : a)
/* How long the client of a node has the lock for certain. */
#define HOLDS(n) LATER(r[n].holds, r[OTHER(n)].holds)
#ifdef EXACT
#define SLACK(steps) 0
#else
#define SLACK(steps) (steps > 0)
#endif
#ifdef HONEST
/* know notes what is known at the first byte, by which a reply is early or late.
   It may be early by a step, and late by a step and by what was asked for since. */
inline know(n, what) {
	r[n].sure = HOLDS(n);
	r[OTHER(n)].ended = false;
	r[n].ended = (r[n].due == 0 && r[OTHER(n)].due == 0);
	if
	:: what != release -> r[n].due = TTL_OF(n) + TIMEOUT + SLACK(SLOWS)
	:: else
	fi
}
#define EARLY(n) (r[n].sure > SLACK(STEPS))
#ifdef BARE
#define LATE(n) false
#else
#define LATE(n) r[n].ended
#endif
#else
#define know(n, what)
#define EARLY(n) false
#define LATE(n) false
#endif

/* start sends an operation to all masters (V1). old: this redlockd has not
   seen a loss or a step yet, and sends under the mark and by the clock of before. */
inline start(n, what, old) {
	r[n].done++;
	printf("R%d: %e, attempt %d\n", n + 1, what, ATTEMPT(n));
	know(n, what);
	if
	:: old -> printf("       (has not seen the loss, or the step)\n")
	:: else
	fi;
	if
	:: what == release -> unhold(n); unhold(OTHER(n))
	:: (what == acquire || what == acquire_or_extend) && r[n].holds == 0 -> r[n].told = false
	:: else
	fi;
	send_all(n, what, old);
	end_turn()
}

/* What may have created the lock. If its reply is late it is renewed, once here,
   under its own attempt (V2). */
#define IS_GRANT(n) (r[n].op != extend && r[n].op != release)
#define MAY_RENEW(n) (r[n].phase == asked && IS_GRANT(n) && r[n].op != renew && YES(n) >= 2)
inline renews(n) {
	printf("R%d: renews attempt %d\n", n + 1, ATTEMPT(n));
	know(n, renew);
	send_all(n, renew, 0);
	end_step()
}

/* heals sends the lock that a quorum met to the masters whose "absent" is in
   hand (V9). */
inline heal_at(j, n) {
	if
	:: L.vote == absent && lock != 0 -> look(j, n, 0); push(j, n, heal)
	:: else
	fi
}
#define MET(j, n) m[j].line[n].met.lock
#define BOTH_MET(i, k, n) (MET(i, n) != 0 && MET(i, n) == MET(k, n))
#if defined(HEAL_ANY_LOCK) || defined(HEAL_ALWAYS)
#define LESS(a, b) (b == 0 || a != 0 && a < b -> a : b)
#define NO_QUORUM(n) LESS(MET(0, n), LESS(MET(1, n), MET(2, n)))
#else
#define NO_QUORUM(n) 0
#endif
inline heals(n) {
	attempt = ATTEMPT(n); age = r[n].age;
	lock = (BOTH_MET(0, 1, n) || BOTH_MET(0, 2, n) -> MET(0, n) : (BOTH_MET(1, 2, n) -> MET(1, n) : NO_QUORUM(n)));
	heal_at(0, n); heal_at(1, n); heal_at(2, n)
}

/* A won release is repeated on the masters that missed it (V8), until this
   redlockd begins something else. */
inline repeats(n) {
#ifdef RELEASED
	r[n].freed = r[n].freed | (1 << MET(0, n)) | (1 << MET(1, n)) | (1 << MET(2, n));
#endif
	m[0].line[n].again = VOTE(0, n, awaited);
	m[1].line[n].again = VOTE(1, n, awaited);
	m[2].line[n].again = VOTE(2, n, awaited)
}

/* V2: an operation is won, and the reply is written, only in time. */
#ifdef NO_TIME_ACQUIRE
#define TIMELESS(n) (r[n].op != extend)
#elif defined(NO_TIME_EXTEND)
#define TIMELESS(n) (r[n].op == extend)
#else
#define TIMELESS(n) false
#endif
#define VOTES_COUNT(n) (r[n].age <= TIMEOUT || TIMELESS(n))
#ifdef NO_LOOK
#define IN_TIME(n) true
#else
#define IN_TIME(n) (r[n].age <= TIMEOUT || TIMELESS(n))
#endif
/* Between the verdict and the reply of an acquire nothing is done. */
#define MAY_TELL(n) (IN_TIME(n) && (r[n].phase == won || r[n].phase == asked && IS_GRANT(n) && YES(n) >= 2))

#define NO_AT(j, n) (VOTE(j, n, absent) || VOTE(j, n, refused))
#define NO(n) (NO_AT(0, n) + NO_AT(1, n) + NO_AT(2, n))
/* win is the verdict on an extend or a release (V8), with what follows from it. */
#define ANY(n, what) (VOTE(0, n, what) || VOTE(1, n, what) || VOTE(2, n, what))
#ifdef BARE
#define ENOUGH(n) YES_AT(0, n) /* V11, and nothing but releases */
#else
#define ENOUGH(n) (YES(n) >= 2 || r[n].op == release && YES(n) == 1 && NO(n) == 1 && ANY(n, absent))
#endif
#define MAY_WIN(n) (r[n].phase == asked && !IS_GRANT(n) && ENOUGH(n))
inline win(n) {
	printf("R%d: won, %d after its first byte\n", n + 1, r[n].age);
	if
	:: r[n].op == extend -> heals(n); r[n].phase = won; unvote_all(n);
#ifdef HEAL_LATE
		r[n].extended = ATTEMPT(n); r[n].its_lock = lock
#endif
	:: else -> told_late = LATE(n); assert(!told_late); repeats(n); rest(n) /* P4 */
	fi;
	tidy_node(n);
	end_turn()
}

/* deny is the other verdict on an extend or a release, that the client has no lock
   (V8, V15). What the release has deleted is repeated, too. */
#ifdef BARE
#define ENOUGH_NO(n) (NO(n) >= 2 && NO_AT(0, n))
#elif defined(OVER_BY_ONE)
#define ENOUGH_NO(n) (NO(n) >= 1)
#else
#define ENOUGH_NO(n) (NO(n) >= 2)
#endif
#ifdef HONEST
#define MATTERS(n) true
#else
#define MATTERS(n) (r[n].op == release && (MET(0, n) || MET(1, n) || MET(2, n)))
#endif
#define MAY_DENY(n) (r[n].phase == asked && !IS_GRANT(n) && ENOUGH_NO(n) && MATTERS(n))
inline deny(n) {
	printf("R%d: tells its client that it has NO lock\n", n + 1);
	told_early = EARLY(n); assert(!told_early); /* P4 */
	if
	:: r[n].op == release -> repeats(n)
	:: else
	fi;
	rest(n);
	tidy_node(n);
	end_turn()
}

/* Whether another client, that of node o, has the lock when that of n is told. */
#ifdef FULL
#define HAS(o, n) (o != n && o != OTHER(n) && r[o].all)
#else
#define HAS(o, n) (o != n && o != OTHER(n) && r[o].holds > 0)
#endif
#if NODES == 3
#define ANOTHER(n) (HAS(0, n) || HAS(1, n) || HAS(2, n))
#else
#define ANOTHER(n) (HAS(0, n) || HAS(1, n))
#endif

inline tell(n) {
	printf("R%d: tells its client that it HOLDS the lock, %d after its first byte\n", n + 1, r[n].age);
#ifndef RELEASED
	second_holder = ANOTHER(n); assert(!second_holder); /* P1 */
#endif
	told_late = r[n].op == extend && LATE(n); assert(!told_late); /* P4 */
	r[n].holds = TTL_OF(n); r[n].told = true;
	r[n].all = MINE(0, n) && MINE(1, n) && MINE(2, n);
	rest(n);
	end_turn()
}

/* owe makes a rollback due at a master that may have created the key (V6). It
   is carried out at some time behind the attempt. */
inline owe(j, n) {
	if
	:: L.owed == 0 || L.vote == awaited || L.vote == created -> L.owed = ATTEMPT(n)
	:: else
	fi
}

/* lose ends an operation without success, at any time: too few votes, too
   late, or the client has gone. */
inline lose(n) {
	printf("R%d: gives up\n", n + 1);
	if
	:: IS_GRANT(n) -> owe(0, n); owe(1, n); owe(2, n)
#ifdef HEAL_ALWAYS
	:: r[n].op == extend && r[n].phase == asked && YES(n) > 0 -> heals(n)
#endif
	:: else
	fi;
	unvote_all(n);
	rest(n);
	tidy_node(n);
	end_turn()
}

/* --- what a master does --------------------------------------------------- */

#define ITS_OVER(n) (OVER(n) > L.age[0] -> OVER(n) - L.age[0] : 0)
inline store(j, n, itsLock) {
	m[j].token = TOKEN(n); m[j].left = HOLD(n) - L.age[0]; m[j].over = ITS_OVER(n);
	m[j].copy.lock = itsLock; m[j].copy.attempt = ID(L.attempt[0])
}
inline create(j, n) { store(j, n, ID(L.attempt[0])) }

/* prolong keeps the lock, the later of both expiries and of both times when it is
   over, and writes its attempt (V6). A renewal finds its attempt there (V2). */
#if defined(OVER_OF_NEW)
#define OVER_AFTER(j, n) ITS_OVER(n)
#elif defined(OVER_OF_OLD)
#define OVER_AFTER(j, n) m[j].over
#elif defined(OVER_OF_EXPIRY)
#define OVER_AFTER(j, n) (m[j].left < HOLD(n) - L.age[0] -> ITS_OVER(n) : m[j].over)
#else
#define OVER_AFTER(j, n) LATER(m[j].over, ITS_OVER(n))
#endif
inline prolong(j, n) {
	m[j].over = OVER_AFTER(j, n);
	m[j].left = LATER(m[j].left, HOLD(n) - L.age[0]);
#ifndef KEEP_ATTEMPT
	m[j].copy.attempt = (L.op[0] == renew -> m[j].copy.attempt : ID(L.attempt[0]))
#endif
}

#ifdef RENEW_BY_TOKEN
#define TO_RENEW(j, n) MINE(j, n)
#else
#define TO_RENEW(j, n) (m[j].copy.attempt == ID(m[j].line[n].attempt[0]))
#endif

/* counted is what a vote counts by the mark behind it (M3, M4). */
inline counted(j, n) {
	if
#ifndef NO_MARK
	:: (L.under[0] & 127) != m[j].mark -> v = awaited
#endif
	:: (L.under[0] & 127) == m[j].mark && L.under[0] >= PENDING && v == created -> v = awaited
#ifndef COPIES_VOTE
	:: (L.under[0] & 127) == m[j].mark && L.under[0] >= PENDING && v == prolonged -> v = awaited
#endif
	:: else
	fi
}

/* Of a lock that is over its client is told that there is none. Nothing else follows
   from it (V15). */
#ifdef OVER_BARE
#define HAS_END(j) true
#else
#define HAS_END(j) (m[j].copy.lock != 0)
#endif
#define IS_OVER(j, n) (MINE(j, n) && m[j].over == 0 && HAS_END(j))

#define IS_ASKED(j, n) (r[n].phase == asked && m[j].line[n].attempt[0] == ATTEMPT(n) && (m[j].line[n].op[0] == renew) == (r[n].op == renew))
/* An answer need not come. That matters only where it would have been healed,
   or where a release is repeated: one that is not told of is a node that gives up. */
#define MAY_BE_UNHEARD(j, n) (IS_ASKED(j, n) && (m[j].line[n].op[0] == extend && (m[j].token == 0 || IS_OVER(j, n)) || m[j].line[n].op[0] == release))

/* carry_out carries out the first message of a line, at one moment, and reads
   the mark behind it. heard: its answer comes. */
inline carry_out(j, n, heard) {
#ifdef DELETE_OVER
	if
	:: m[j].token != 0 && m[j].over == 0 -> forget(j); printf("       (deletes what is over)\n")
	:: else
	fi;
#endif
	v = refused; room = 0; lock = m[j].copy.lock; attempt = m[j].copy.attempt;
	printf("   m%d: %e for R%d, attempt %d\n", j + 1, L.op[0], n + 1, L.attempt[0]);
	if
	:: m[j].token == 0 && (L.op[0] == acquire || L.op[0] == acquire_or_extend) -> create(j, n); v = created
	:: m[j].token == 0 && L.op[0] == heal -> store(j, n, L.lock[0]); printf("       heals lock %d\n", L.lock[0]);
#ifdef RELEASED
		is_back = (r[n].freed & (1 << L.lock[0])) && L.op[1] != release && !L.again; assert(!is_back) /* P5 */
#endif
	:: m[j].token == 0 && (L.op[0] == extend || L.op[0] == release) -> v = absent;
#ifdef HEAL_VOTES
		if
		:: L.op[0] == extend -> create(j, n); v = prolonged
		:: else
		fi;
#endif
#ifdef HEAL_LATE
		room = (r[n].extended == L.attempt[0])
#endif
#ifdef RETAKE_OVER
	:: IS_OVER(j, n) && L.op[0] == acquire_or_extend -> create(j, n); v = created
	:: MINE(j, n) && !IS_OVER(j, n) && L.op[0] == acquire_or_extend -> prolong(j, n); v = prolonged
#else
	:: MINE(j, n) && L.op[0] == acquire_or_extend -> prolong(j, n); v = prolonged
#endif
	:: MINE(j, n) && !IS_OVER(j, n) && L.op[0] == extend -> prolong(j, n); v = prolonged
	:: IS_OVER(j, n) && L.op[0] == extend -> v = absent;
#ifdef EXTEND_DELETES
		forget(j)
#endif
	:: MINE(j, n) && L.op[0] == renew && TO_RENEW(j, n) -> prolong(j, n); v = prolonged
	:: MINE(j, n) && L.op[0] == release -> v = (IS_OVER(j, n) -> absent : deleted); forget(j)
	:: else
	fi;
	counted(j, n);
	if
	:: heard && IS_ASKED(j, n) && VOTES_COUNT(n) -> L.vote = v; printf("       %e\n", v);
		if
		:: v == prolonged && L.op[0] == extend -> L.met.lock = lock
		:: (v == deleted || v == absent) && L.op[0] == release -> L.met.lock = lock; L.met.attempt = attempt
		:: else
		fi
	:: else
	fi;
	attempt = L.attempt[0]; lock = L.lock[0]; age = L.age[0]; under = L.under[0];
	pop(j, n);
#ifdef HEAL_LATE
	lock = r[n].its_lock;
#endif
	if
	:: room -> push(j, n, heal)
	:: else
	fi;
	tidy_master(j);
	end_step()
}

/* Masters are alike, so the one that carries R1's first attempt out first may
   be called m1, the next one m2. (SORT is another way to say the same, which
   leaves fewer states and no names in a trail.) */
#ifdef SORT
#define BY_NAME(j, n) true
#else
#define BY_NAME(j, n) (n != 0 || m[j].line[n].attempt[0] != 1 || j == 0 || NOT_IN(j - 1))
#define NOT_IN(k) !SENT(k, 0, 1)
#endif
#define MAY_CARRY_OUT(j, n) (m[j].line[n].op[0] != 0 && BY_NAME(j, n))

/* overtake carries out the second message of a line before the first. */
inline overtake(j, n) {
	attempt = L.attempt[0]; age = L.age[0]; under = L.under[0];
	pop(j, n);
	put(j, n, 1, release);
	end_step()
}

#define MAY_ROLL_BACK(j, n) (m[j].line[n].owed != 0 && !SENT(j, n, m[j].line[n].owed))
inline roll_back(j, n) {
	printf("   m%d: rollback for R%d, attempt %d\n", j + 1, n + 1, L.owed);
	if
	:: MINE(j, n) && TO_UNDO(j, n) -> forget(j); printf("       deletes\n")
	:: else
	fi;
	L.owed = 0;
	tidy_master(j);
	end_step()
}

/* A release is repeated on a copy that it met, or on one of these locks as it
   was created (V8). */
#define IS_MET(j, n, k) (MET(k, n) != 0 && m[j].copy.lock == MET(k, n) && AS_MET(j, n, k))
#ifdef REPEAT_BY_LOCK
#define AS_MET(j, n, k) true
#else
#define AS_MET(j, n, k) (m[j].copy.attempt == m[k].line[n].met.attempt || m[j].copy.attempt == m[j].copy.lock)
#endif
#ifdef REPEAT_BY_TOKEN
#define TO_RELEASE(j, n) MINE(j, n)
#else
#define TO_RELEASE(j, n) (IS_MET(j, n, 0) || IS_MET(j, n, 1) || IS_MET(j, n, 2))
#endif
#define MAY_REPEAT(j, n) (m[j].line[n].again && !ON_THE_WAY(j, n, release) && !ON_THE_WAY(j, n, heal))
inline repeat(j, n) {
	printf("   m%d: R%d repeats its release\n", j + 1, n + 1);
	if
	:: TO_RELEASE(j, n) -> forget(j); printf("       deletes\n")
	:: else
	fi;
	L.again = false;
	tidy_master(j);
	end_step()
}

/* --- what happens to them ------------------------------------------------- */

inline cut_line(j, n) { clear(j, n, 0); clear(j, n, 1) }

/* lose_memory: FLUSHALL, a promoted replica, another server behind the
   address; restart: what was on the way is lost, too. The pending mark is
   there at once, the shortest quarantine that can be. */
inline lose_memory(j, restart) {
	losses++;
	printf("   m%d: FORGETS its keys and its mark\n", j + 1);
	forget(j);
	m[j].mark++;
#ifndef NO_QUARANTINE
	m[j].wait = WAIT;
#endif
	if
	:: restart -> EACH_NODE(cut_line, j)
	:: else
	fi;
	tidy_master(j);
	end_step()
}

/* lose_unseen: a key deleted by hand, evicted, or ended by a step of the
   clock that nobody watched. */
inline lose_unseen(j) {
	losses++;
	printf("   m%d: LOSES the key, and nobody can see it\n", j + 1);
	forget(j);
	tidy_master(j);
	end_step()
}

inline cut(j, n) {
	cuts++;
	printf("   m%d: the connection from R%d is CUT\n", j + 1, n + 1);
	cut_line(j, n);
	tidy_master(j);
	end_step()
}

/* step_ahead: for this master alone it is a tick later, which nobody can see (V3). */
inline step_ahead(j) {
	steps++;
	printf("   m%d: its clock goes AHEAD, and nobody can see it\n", j + 1);
#if STEPS
	m[j].ahead = true;
#endif
	tick_master(j);
	tidy_master(j);
	end_step()
}

/* --- time ----------------------------------------------------------------- */

inline grow(j, n) {
	if
	:: L.op[0] != 0 && L.op[0] != release -> L.age[0]++
	:: else
	fi;
	if
	:: L.op[1] != 0 && L.op[1] != release -> L.age[1]++
	:: else
	fi
}

inline tick_master(j) {
	if
	:: m[j].left > 1 -> m[j].left--
	:: m[j].left == 1 -> forget(j)
	:: else
	fi;
	if
	:: m[j].over > 0 -> m[j].over--
	:: else
	fi;
	if
	:: m[j].wait > 0 -> m[j].wait--
	:: else
	fi;
	EACH_NODE(grow, j)
}

inline tick_node(j, n) {
	if
	:: r[n].phase != idle && r[n].age <= TIMEOUT -> r[n].age++
	:: else
	fi;
	if
	:: r[n].holds > 1 -> r[n].holds--
	:: r[n].holds == 1 -> r[n].holds = 0; r[n].all = false
	:: else
	fi;
#ifdef HONEST
	if
	:: r[n].sure > 0 -> r[n].sure--
	:: else
	fi;
	if
	:: r[n].due > 0 -> r[n].due--
	:: else
	fi
#endif
}

#define NOBODY 3
inline ticks(j, slow) {
	if
	:: slow == j -> slows++; printf("   m%d: its clock falls BEHIND\n", j + 1)
	:: else -> tick_master(j)
	fi
}
/* slow is a master whose clock falls behind by this tick, or NOBODY. */
inline tick(slow) {
	printf("--- tick\n");
	ticks(0, slow); ticks(1, slow); ticks(2, slow);
	EACH_NODE(tick_node, 0);
	tidy_master(0); tidy_master(1); tidy_master(2);
	end_turn()
}

/* --- all that may happen next --------------------------------------------- */

#define STARTS(n, ops, old) \
	:: d_step { MAY_START(n, ops) && MAY_ACQUIRE(n) && (!old || IS_UNSEEN) -> start(n, acquire, old) } \
	:: d_step { MAY_START(n, ops) && (!old || IS_UNSEEN) && AOE -> start(n, acquire_or_extend, old) }

#if STEPS
#define OLD_EXTEND(n, ops) :: d_step { MAY_START(n, ops) && EXTEND && MAY_EXTEND(n) && IS_UNSEEN -> start(n, extend, 1) }
#else
#define OLD_EXTEND(n, ops)
#endif
#define NODE(n, ops) \
	STARTS(n, ops, 0) \
	STARTS(n, ops, 1) \
	:: d_step { MAY_START(n, ops) && EXTEND && MAY_EXTEND(n) -> start(n, extend, 0) } \
	OLD_EXTEND(n, ops) \
	:: d_step { MAY_START(n, ops) && RELEASE && MAY_RELEASE(n) -> start(n, release, 0) } \
	:: d_step { RENEW && MAY_RENEW(n) -> renews(n) } \
	:: d_step { MAY_WIN(n) -> win(n) } \
	:: d_step { MAY_DENY(n) -> deny(n) } \
	:: d_step { MAY_TELL(n) -> tell(n) } \
	:: d_step { r[n].phase != idle -> lose(n) } \
	LINE(0, n) LINE(1, n) LINE(2, n)

#ifdef NO_FENCE
#define OVERTAKE(j, n) :: d_step { m[j].line[n].op[0] == release && m[j].line[n].op[1] != 0 -> overtake(j, n) }
#else
#define OVERTAKE(j, n)
#endif

#define LINE(j, n) \
	:: d_step { MAY_CARRY_OUT(j, n) -> carry_out(j, n, true) } \
	:: d_step { MAY_CARRY_OUT(j, n) && MAY_BE_UNHEARD(j, n) -> carry_out(j, n, false) } \
	:: d_step { MAY_ROLL_BACK(j, n) -> roll_back(j, n) } \
	:: d_step { MAY_REPEAT(j, n) -> repeat(j, n) } \
	:: d_step { cuts < CUTS && MAY_CARRY_OUT(j, n) -> cut(j, n) } \
	OVERTAKE(j, n)

#if STEPS
#define STEP(j) :: d_step { steps < STEPS && !m[j].ahead -> step_ahead(j) }
#elif SLOWS
#define STEP(j) :: d_step { slows < SLOWS -> tick(j) }
#else
#define STEP(j)
#endif

#define LOSS(j) \
	:: d_step { losses < LOSSES -> lose_memory(j, true) } \
	:: d_step { losses < FLUSHES -> lose_memory(j, false) } \
	:: d_step { losses < UNSEEN -> lose_unseen(j) } \
	STEP(j)

init {
	d_step { r[0].phase = idle; r[1].phase = idle;
#ifdef BARE
		m[0].token = TOKEN(0); r[0].told = true; r[0].holds = 255; /* and no expiry */
#endif
#if NODES == 3
		r[2].phase = idle
#endif
	}
	do
	NODE(0, OPS0)
	NODE(1, OPS1)
#if NODES == 3
	NODE(2, OPS2)
#endif
	LOSS(0) LOSS(1) LOSS(2)
	:: d_step { true -> tick(NOBODY) }
	od
}
