/*
 * One lock on three masters, for spin. README.md says what is modelled, what
 * is left out and why, and how to read a trail; V2, M4, ... are the rules of
 * docs/safety.md.
 *
 * Every rule is in unless a -D leaves it out:
 *
 *   NO_TIME_ACQUIRE   V2  votes for an acquire count whenever they come
 *   NO_TIME_EXTEND    V2  the same for an extend
 *   NO_LOOK           V2  no look at the time right before the reply
 *   NO_PADDING        V3  masters are given the TTL, not the hold
 *   NO_NAME           V6  a rollback deletes by token alone
 *   NO_SPARE          V6  a rollback goes to masters that refused, too
 *   NO_ODD            V6  what was prolonged bears the attempt's name
 *   SAME_NAMES        V6  two redlockd may give attempts one name
 *   HEAL_VOTES        V9  a healed copy counts as a vote
 *   HEAL_ALWAYS       V9  a copy is healed without a majority
 *   HEAL_LATE         V9  an "absent" that comes after the verdict is healed
 *   NO_FENCE          M3  what a connection sent overtakes the one before
 *   NO_MARK           M3  votes count whatever the mark says
 *   NO_QUARANTINE     M4  a master that forgot votes again at once
 *   SHORT_QUARANTINE  M4  it waits for the TTL, not the hold
 *   NO_SHUT           M4  acquires go to a master in quarantine
 *   COPIES_VOTE       M4  a copy on a master in quarantine counts in an extend
 *
 * These make the world: OPS0, OPS1, OPS2 (operations of each redlockd), AOE,
 * EXTEND, RELEASE (what else than acquires), ONCE (a client acquires first and
 * never again), EQUAL (one token for all), ELSEWHERE (R1's client, once it was
 * not told, tries again at R2 with the same token; R3's is another), LOSSES (restarts), FLUSHES (losses
 * that keep the connections), UNSEEN (losses that nobody sees), CUTS (of
 * connections), HEARD (nobody gives up before all have answered), STRANGER
 * (who was not told may extend), TTL, TIMEOUT. FULL asserts only that
 * a lock on all masters is exclusive, RELEASED that what was released is not
 * healed. SORT makes the search smaller, see README.md.
 */

#ifndef TTL
#define TTL 1
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

#ifdef NO_PADDING
#define HOLD TTL
#else
#define HOLD (TTL + 2 * TIMEOUT)
#endif
#ifdef SHORT_QUARANTINE
#define WAIT TTL
#else
#define WAIT (TTL + 2 * TIMEOUT)
#endif

mtype = { idle, asked, won };
mtype = { acquire, acquire_or_extend, extend, heal, release };
/* Votes that lead to the same are one: awaited is also what was carried out
   and does not count, refused also what was not sent (M1), and absent also
   the "absent" of a master in quarantine. */
mtype = { awaited, created, prolonged, refused, absent };

#define SLOTS 2
#define PENDING 128 /* added to the mark that something was sent under */

/* What is between one redlockd and one master. */
typedef Line {
	mtype op[SLOTS];   /* sent and not carried out, in order */
	byte name[SLOTS];  /* of the attempt */
	byte age[SLOTS];   /* since the attempt's first byte */
	byte under[SLOTS]; /* the mark it was sent under */
	mtype vote;        /* on the attempt under way */
	byte owed;         /* the name of an attempt that is to be rolled back */
}

typedef Master {
	byte token; /* 0: there is no key */
	byte name;  /* of the attempt that created it, 0 if it was prolonged */
	byte left;  /* until it expires */
	byte mark;  /* counts the losses: each makes another mark */
	byte wait;  /* above 0: the mark is pending, in quarantine for so long */
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
	byte gone;   /* the name of its last release */
#ifdef HEAL_LATE
	byte extended; /* the name of its last extend that was won */
#endif
}

Master m[3];
Node r[NODES];
byte losses;
byte cuts;

/* Scratch, 0 between steps. */
byte v;
byte name;
byte age;
byte under;
byte room;

#ifdef EQUAL
#define TOKEN(n) 1
#else
#ifdef ELSEWHERE
#define TOKEN(n) (n == 2 -> 2 : 1)
#else
#define TOKEN(n) (n + 1)
#endif
#endif
/* An attempt's expiry is its name: no two have one, as each redlockd makes
   expiries with a residue of its own (V6). */
#ifdef SAME_NAMES
#define NAME(n) (r[n].done)
#else
#define NAME(n) (16 * n + r[n].done)
#endif

#define L m[j].line[n]
#define MINE(j, n) (m[j].token == TOKEN(n))
#define YES_AT(j, n) (m[j].line[n].vote == created || m[j].line[n].vote == prolonged)
#define YES(n) (YES_AT(0, n) + YES_AT(1, n) + YES_AT(2, n))

/* --- lines, and what can be left out of a state --------------------------- */

inline clear(j, n, s) {
	L.op[s] = 0; L.name[s] = 0; L.age[s] = 0; L.under[s] = 0
}

inline pop(j, n) {
	L.op[0] = L.op[1]; L.name[0] = L.name[1]; L.age[0] = L.age[1]; L.under[0] = L.under[1];
	clear(j, n, 1)
}

inline put(j, n, s, what) {
	L.op[s] = what; L.name[s] = name; L.age[s] = age; L.under[s] = under
}

/* push puts a message (what, name, age, under) behind those that were sent
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
	m[j].token = 0; m[j].name = 0; m[j].left = 0
}

/* Past its time a message changes nothing: a SET because its expiry is over,
   a script by its deadline (V6). A release has none. */
#define DEAD(s) (L.op[s] != 0 && L.op[s] != release && (L.age[s] >= HOLD || L.op[s] != acquire && L.age[s] > TIMEOUT))

/* A rollback that can meet nothing any more is as good as carried out. */
#ifdef NO_NAME
#define VAIN false
#else
#define VAIN (L.owed != 0 && m[j].name != L.owed && L.name[0] != L.owed && L.name[1] != L.owed)
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
		SWAP(0, 1) SWAP(1, 2) SWAP(0, 1)
	}
};
#define SORTED c_code { sort_masters(); }
#else
#define SORTED skip
#endif

/* Without one that has the lock, or may get it, and another that may get it,
   nothing can be found any more: all such states are one. */
#define MAY_GET(n, ops) (r[n].done < ops || r[n].phase != idle)
#define MAY_HAVE(n, ops) (r[n].holds > 0 || MAY_GET(n, ops))
#define PAIR(a, x, b, y) (MAY_GET(a, x) && MAY_HAVE(b, y) || MAY_HAVE(a, x) && MAY_GET(b, y))
#ifdef RELEASED
#define OPEN true
#else
#if NODES == 3
#define OPEN (PAIR(0, OPS0, 1, OPS1) || PAIR(0, OPS0, 2, OPS2) || PAIR(1, OPS1, 2, OPS2))
#else
#define OPEN PAIR(0, OPS0, 1, OPS1)
#endif
#endif

inline wipe_line(j, n) {
	clear(j, n, 0); clear(j, n, 1); L.vote = 0; L.owed = 0
}
inline wipe_master(j) {
	forget(j); m[j].mark = 0; m[j].wait = 0;
	EACH_NODE(wipe_line, j)
}
inline wipe_node(j, n) {
	r[n].done = 255; r[n].op = 0; r[n].phase = idle; r[n].age = 0;
	r[n].holds = 0; r[n].told = false; r[n].all = false; r[n].gone = 0
}
inline wipe() {
	wipe_master(0); wipe_master(1); wipe_master(2);
	EACH_NODE(wipe_node, 0);
	losses = 255; cuts = 255
}

/* Each step ends with what can have changed: the lines of a master, those of a
   node, or all; and with whether it still matters. */
inline end_step() {
	v = 0; name = 0; age = 0; under = 0; room = 0;
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

inline send(j, n, what, old) {
	look(j, n, old);
	if
	:: SHUT(j, what) -> L.vote = refused
	:: else ->
		name = NAME(n); age = 0;
		push(j, n, what);
		L.vote = (room -> awaited : refused) /* a full line is silent at once (M1) */
	fi
}

#ifdef ELSEWHERE
#define TURN(n) (n != 1 || r[0].done == OPS0 && r[0].phase == idle && !r[0].told)
#else
#define TURN(n) true
#endif
#define MAY_START(n, ops) (r[n].phase == idle && r[n].done < ops && TURN(n))
#ifdef ONCE
#define MAY_ACQUIRE(n) (r[n].done == 0)
#else
#define MAY_ACQUIRE(n) true
#endif
#define SOME_WAIT (m[0].wait + m[1].wait + m[2].wait > 0)
#ifdef STRANGER
#define MAY_EXTEND(n) (r[n].done > 0)
#else
#define MAY_EXTEND(n) r[n].told
#endif

/* start sends an operation to all masters (V1). old: this redlockd has not
   seen a loss yet, and sends under the mark of before. */
inline start(n, what, old) {
	r[n].done++;
	printf("R%d: %e, attempt %d\n", n + 1, what, NAME(n));
	if
	:: old -> printf("       (has not seen the loss)\n")
	:: else
	fi;
	if
	:: what == release -> r[n].holds = 0; r[n].told = false; r[n].all = false; r[n].gone = NAME(n)
	:: (what == acquire || what == acquire_or_extend) && r[n].holds == 0 -> r[n].told = false
	:: else
	fi;
	r[n].op = what; r[n].phase = asked;
	send(0, n, what, old); send(1, n, what, old); send(2, n, what, old);
	if
	:: what == release -> rest(n); end_turn() /* its answer matters to nobody's lock */
	:: else -> end_step()
	fi
}

/* heals sends the lock to the masters whose "absent" is in hand (V9). */
inline heal_at(j, n) {
	if
	:: L.vote == absent -> look(j, n, 0); push(j, n, heal)
	:: else
	fi
}
inline heals(n) { name = NAME(n); age = r[n].age; heal_at(0, n); heal_at(1, n); heal_at(2, n) }

/* V2: an operation is won, and the reply is written, only in time. */
#ifdef NO_TIME_ACQUIRE
#define TIMELESS(n) (r[n].op != extend)
#else
#ifdef NO_TIME_EXTEND
#define TIMELESS(n) (r[n].op == extend)
#else
#define TIMELESS(n) false
#endif
#endif
#define VOTES_COUNT(n) (r[n].age <= TIMEOUT || TIMELESS(n))
#ifdef NO_LOOK
#define IN_TIME(n) true
#else
#define IN_TIME(n) (r[n].age <= TIMEOUT || TIMELESS(n))
#endif
/* Between the verdict and the reply of an acquire nothing is done. */
#define MAY_TELL(n) (IN_TIME(n) && (r[n].phase == won || r[n].phase == asked && r[n].op != extend && YES(n) >= 2))

/* win is the verdict on an extend (V8), and heals. */
#define MAY_WIN(n) (r[n].phase == asked && r[n].op == extend && YES(n) >= 2)
inline win(n) {
	printf("R%d: won, %d after its first byte\n", n + 1, r[n].age);
	r[n].phase = won;
#ifdef HEAL_LATE
	r[n].extended = NAME(n);
#endif
	heals(n);
	m[0].line[n].vote = 0; m[1].line[n].vote = 0; m[2].line[n].vote = 0;
	tidy_node(n);
	end_step()
}

/* Who still has the lock when node n is told that it has it. */
#ifdef FULL
#define HAS(o, n) (o != n && r[o].holds > 0 && r[o].all)
#else
#define HAS(o, n) (o != n && r[o].holds > 0)
#endif
#if NODES == 3
#define ANOTHER(n) (HAS(0, n) || HAS(1, n) || HAS(2, n))
#else
#define ANOTHER(n) (HAS(0, n) || HAS(1, n))
#endif

inline tell(n) {
	printf("R%d: tells its client that it HOLDS the lock, %d after its first byte\n", n + 1, r[n].age);
#ifndef RELEASED
	assert(!ANOTHER(n)); /* P1 */
#endif
	r[n].holds = TTL; r[n].told = true;
	r[n].all = MINE(0, n) && MINE(1, n) && MINE(2, n);
	rest(n);
	end_turn()
}

/* owe makes a rollback due at a master that may have created the key (V6). It
   is carried out at some time behind the attempt. */
inline owe(j, n) {
	if
	:: L.vote == awaited || L.vote == created -> L.owed = NAME(n)
#ifdef NO_SPARE
	:: L.vote == refused -> L.owed = NAME(n)
#endif
#ifdef NO_ODD
	:: L.vote == prolonged -> L.owed = NAME(n)
#endif
	:: else
	fi
}

#ifdef HEARD
#define AWAITS(n) (m[0].line[n].vote == awaited || m[1].line[n].vote == awaited || m[2].line[n].vote == awaited)
#else
#define AWAITS(n) false
#endif

/* lose ends an operation without success, at any time: too few votes, too
   late, or the client has gone. */
inline lose(n) {
	printf("R%d: gives up\n", n + 1);
	if
	:: r[n].op != extend -> owe(0, n); owe(1, n); owe(2, n)
#ifdef HEAL_ALWAYS
	:: r[n].op == extend && r[n].phase == asked && YES(n) > 0 -> heals(n)
#endif
	:: else
	fi;
	rest(n);
	tidy_node(n);
	end_turn()
}

/* --- what a master does --------------------------------------------------- */

#ifdef NO_ODD
#define ODD L.name[0]
#else
#define ODD 0
#endif

inline set(j, n, nm) {
	m[j].token = TOKEN(n); m[j].name = nm; m[j].left = HOLD - L.age[0]
}

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

#define IS_ASKED(j, n) (r[n].phase == asked && m[j].line[n].name[0] == NAME(n))
/* An answer need not come. That matters only where it would have been healed,
   or spared a rollback: one that is not told of is a node that gives up. */
#if defined(NO_NAME) || defined(NO_SPARE)
#define MAY_BE_UNHEARD(j, n) (IS_ASKED(j, n) && m[j].line[n].op[0] != 0)
#else
#define MAY_BE_UNHEARD(j, n) (IS_ASKED(j, n) && m[j].line[n].op[0] == extend && m[j].token == 0)
#endif

/* carry_out carries out the first message of a line, at one moment, and reads
   the mark behind it. heard: its answer comes. */
inline carry_out(j, n, heard) {
	v = refused; room = 0;
	printf("   m%d: %e for R%d, attempt %d\n", j + 1, L.op[0], n + 1, L.name[0]);
	if
	:: m[j].token == 0 && (L.op[0] == acquire || L.op[0] == acquire_or_extend) -> set(j, n, L.name[0]); v = created
	:: m[j].token == 0 && L.op[0] == heal -> set(j, n, 0); printf("       heals\n");
#ifdef RELEASED
		assert(r[n].gone < L.name[0] || L.op[1] == release)
#endif
	:: m[j].token == 0 && L.op[0] == extend -> v = absent;
#ifdef HEAL_VOTES
		set(j, n, 0); v = prolonged;
#endif
#ifdef HEAL_LATE
		room = (r[n].extended == L.name[0])
#endif
	:: MINE(j, n) && (L.op[0] == acquire_or_extend || L.op[0] == extend) -> set(j, n, ODD); v = prolonged
	:: MINE(j, n) && L.op[0] == release -> forget(j)
	:: else
	fi;
	counted(j, n);
	if
	:: heard && IS_ASKED(j, n) && VOTES_COUNT(n) -> L.vote = v; printf("       %e\n", v)
	:: else
	fi;
	name = L.name[0]; age = L.age[0]; under = L.under[0];
	pop(j, n);
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
#define BY_NAME(j, n) (n != 0 || m[j].line[n].name[0] != 1 || j == 0 || NOT_IN(j - 1))
#define NOT_IN(k) (m[k].line[0].name[0] != 1 && m[k].line[0].name[1] != 1)
#endif
#define MAY_CARRY_OUT(j, n) (m[j].line[n].op[0] != 0 && BY_NAME(j, n))

/* overtake carries out the second message of a line before the first. */
inline overtake(j, n) {
	name = L.name[0]; age = L.age[0]; under = L.under[0];
	pop(j, n);
	put(j, n, 1, release);
	end_step()
}

#define MAY_ROLL_BACK(j, n) (m[j].line[n].owed != 0 && m[j].line[n].name[0] != m[j].line[n].owed && m[j].line[n].name[1] != m[j].line[n].owed)
inline roll_back(j, n) {
	printf("   m%d: rollback for R%d, attempt %d\n", j + 1, n + 1, L.owed);
	if
#ifdef NO_NAME
	:: MINE(j, n) -> forget(j); printf("       deletes\n")
#else
	:: MINE(j, n) && m[j].name == L.owed -> forget(j); printf("       deletes\n")
#endif
	:: else
	fi;
	L.owed = 0;
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
	fi
}

inline tick() {
	printf("--- tick\n");
	tick_master(0); tick_master(1); tick_master(2);
	EACH_NODE(tick_node, 0);
	tidy_master(0); tidy_master(1); tidy_master(2);
	end_turn()
}

/* --- all that may happen next --------------------------------------------- */

#ifdef AOE
#define AOE_ON true
#else
#define AOE_ON false
#endif
#ifdef EXTEND
#define EXTEND_ON true
#else
#define EXTEND_ON false
#endif
#ifdef RELEASE
#define RELEASE_ON true
#else
#define RELEASE_ON false
#endif

#define STARTS(n, ops, old) \
	:: d_step { MAY_START(n, ops) && MAY_ACQUIRE(n) && (!old || SOME_WAIT) -> start(n, acquire, old) } \
	:: d_step { MAY_START(n, ops) && (!old || SOME_WAIT) && AOE_ON -> start(n, acquire_or_extend, old) }

#define NODE(n, ops) \
	STARTS(n, ops, 0) \
	STARTS(n, ops, 1) \
	:: d_step { MAY_START(n, ops) && EXTEND_ON && MAY_EXTEND(n) -> start(n, extend, 0) } \
	:: d_step { MAY_START(n, ops) && RELEASE_ON && r[n].told -> start(n, release, 0) } \
	:: d_step { MAY_WIN(n) -> win(n) } \
	:: d_step { MAY_TELL(n) -> tell(n) } \
	:: d_step { r[n].phase != idle && !AWAITS(n) -> lose(n) } \
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
	:: d_step { cuts < CUTS && MAY_CARRY_OUT(j, n) -> cut(j, n) } \
	OVERTAKE(j, n)

#define LOSS(j) \
	:: d_step { losses < LOSSES -> lose_memory(j, true) } \
	:: d_step { losses < FLUSHES -> lose_memory(j, false) } \
	:: d_step { losses < UNSEEN -> lose_unseen(j) }

init {
	d_step { r[0].phase = idle; r[1].phase = idle;
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
	:: d_step { true -> tick() }
	od
}
