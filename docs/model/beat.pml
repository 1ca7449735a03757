/*
 * What two redlockd remember of the beat of a master that came back from a
 * restart (M4), for spin. README.md says what is modelled and what is left out.
 *
 * m1 says appendfsync always, and comes back once with a disk of an earlier
 * time. When that disk was written is time 0; m1 is lost at AGE. R1 takes a lock
 * on m1 and m2 in between. R2 has stood still since 0, or is cut off from
 * m1 (CUT), and goes on at any time. If one of the two lets m1 vote again
 * without the lock, a second client has m1 and m3: that is asserted. The lock
 * never ends, so that a quarantine is the end.
 *
 * Every rule is in unless a -D leaves it out, M4:
 *
 *   OWN_MEMORY  a redlockd that saw just that beat last exempts m1 at once
 *   NO_WAIT     nobody is waited for
 *   NO_TELL     the other marks are not told of m1's beat
 *   NO_LAG      a beat that is new at each look is not told, however far it is ahead
 *   NO_BEAT     the beat is never raised
 *   NO_OTHERS   nor need the other masters have been looked at
 *
 * These make the world: S (ticks a second, 2), AGE (of the disk when m1 is lost,
 * in ticks), STILLS (how often R1 may stand still), FOR_GOOD (it does not go on
 * then), CUT (R2 runs, and is cut off from m1 until that is back), CUT_AFTER (R1
 * does not reach m1 any more once that was lost), DARK (R2 may not reach the
 * other two for any time), LAST (the lock is taken right before m1 is lost).
 */

#ifndef S
#define S 2
#endif
#ifndef AGE
#define AGE (2 * S)
#endif
#ifndef STILLS
#define STILLS 0
#endif

#define LOOK S       /* each master is looked at so often */
#define LATEST (2 * S) /* without a look for longer nothing is granted (V6) */
#define MANY (2 * S + 1) /* more than any time that matters */
#ifdef NO_WAIT
#define WAIT 0
#else
#define WAIT (2 * S) /* and a moment more, see LATER */
#endif

/* What a redlockd knows of m2 or m3. */
typedef Other {
	byte gap;  /* ticks since the last look */
	byte age;  /* since when its own beat was seen unchanged */
	bool news; /* somebody else has raised it since */
}

typedef Node {
	bool still;  /* it stands still */
	byte stills; /* how often it has */
	bool line;   /* it is connected to m1 as it was before the loss */
	byte gap;    /* as above, of m1 */
	byte age;
	byte seen;   /* m1's beat as it was seen last */
	byte knows;  /* the highest beat of m1 that it has seen in any mark */
	byte moved;  /* since when that has not changed */
	byte back;   /* 1 + ticks since it saw that m1 is back; 0 before */
	Other at[2];
}

Node r[2];
byte time;     /* until m1 is lost */
byte beat;     /* m1's */
byte told[2];  /* m1's beat, as m2 and m3 bear it */
bool lost;     /* m1 is, or was */
bool up = 1;
bool taken;    /* R1's client has the lock */
bool over;


#define RUNS(n) (!r[n].still)
#ifdef CUT
#define REACHES(n) (up && (n == 0 || lost))
#else
#ifdef CUT_AFTER
#define REACHES(n) (up && (n == 1 || !lost))
#else
#define REACHES(n) up
#endif
#endif

#ifdef LAST
#define MAY_TAKE (time == AGE)
#else
#define MAY_TAKE true
#endif
#ifdef FOR_GOOD
#define MAY_STAND (time == AGE)
#else
#define MAY_STAND true
#endif

/* A redlockd that runs looks at each master in time. */
#ifdef DARK
#define SEES(n) (n == 0)
#else
#define SEES(n) true
#endif
#define DUE(n) (RUNS(n) && (REACHES(n) && r[n].gap >= LOOK || SEES(n) && (r[n].at[0].gap >= LOOK || r[n].at[1].gap >= LOOK)))
/* The waits are a moment longer than what they wait for: the round trips. */
#define LATER (!DUE(0) && !DUE(1))

inline learns(n, b) {
	if
	:: b > r[n].knows -> r[n].knows = b; r[n].moved = 0
	:: else
	fi
}

/* sees takes over m1's beat. Who has not looked for long counts from before
   that. */
inline sees(n) {
	if
	:: r[n].seen != beat ->
		r[n].seen = beat;
		r[n].age = (2 * r[n].gap > 3 * LOOK -> r[n].gap : 0)
	:: else
	fi;
	learns(n, beat)
}

/* look_m1 is a look before the loss. write: it comes to raise the beat. */
inline look_m1(n, write) {
	sees(n);
	if
	:: !write && r[n].gap > LATEST -> stand_still(n) /* it votes after the write (M5) */
	:: !write && r[n].gap <= LATEST -> r[n].gap = 0; stand_still(n)
	:: else -> r[n].gap = 0
	fi;
	if
	:: write && r[n].age >= S ->
#ifndef NO_BEAT
		beat++;
		printf("R%d: raises m1's beat to %d\n", n + 1, beat);
#endif
		r[n].seen = beat; r[n].age = 0;
		learns(n, beat)
	:: else
	fi
}

#ifdef NO_LAG
#define LAGS(n, j) false
#else
#define LAGS(n, j) (r[n].knows >= told[j] + 2)
#endif

/* look_at is a look at m2 or m3. It tells what it knows with that mark's next
   beat, or when it has known it for a while, or is two beats ahead. */
inline look_at(n, j) {
	if
	:: r[n].at[j].news ->
		r[n].at[j].news = 0;
		r[n].at[j].age = (2 * r[n].at[j].gap > 3 * LOOK -> r[n].at[j].gap : 0)
	:: else
	fi;
	r[n].at[j].gap = 0;
	learns(n, told[j]);
	if
	:: r[n].at[j].age >= S ->
		r[n].at[j].age = 0; r[1 - n].at[j].news = 1;
		tells(n, j)
	:: r[n].at[j].age < S && (2 * r[n].moved >= S || LAGS(n, j)) -> tells(n, j)
	:: else
	fi
}

#ifdef NO_TELL
#define TELLS false
#else
#define TELLS true
#endif
inline tells(n, j) {
	if
	:: TELLS && told[j] < r[n].knows ->
		told[j] = r[n].knows;
		printf("R%d: tells m%d that m1's beat is %d\n", n + 1, j + 2, told[j])
	:: else
	fi
}

inline acquires() {
	printf("R1: takes the lock on m1 and m2, under beat %d\n", beat);
	sees(0);
	taken = 1
}

inline drops(n) {
	r[n].line = 0;
	r[n].gap = 0
}

inline stand_still(n) {
	r[n].still = 1; r[n].stills++;
	printf("R%d: stands still\n", n + 1)
}

inline goes_on(n) {
	r[n].still = 0;
	printf("R%d: goes on\n", n + 1);
	if
	:: lost && r[n].line -> drops(n); r[n].gap = LOOK
	:: else
	fi
}

inline lose() {
	printf("   m1: is lost, its beat was %d\n", beat);
	lost = 1; up = 0;
	if
	:: RUNS(0) -> drops(0)
	:: else
	fi;
	if
	:: RUNS(1) -> drops(1)
	:: else
	fi
}

inline comes_back() {
	printf("   m1: is back with a disk of %d ticks before, beat 0\n", AGE);
	up = 1; beat = 0;
	r[0].gap = (RUNS(0) -> LOOK - 1 : r[0].gap);
	r[1].gap = (RUNS(1) -> LOOK - 1 : r[1].gap)
}

#define LOOKED_AT(n, j) (r[n].at[j].gap + WAIT < r[n].back + LOOK)
#ifdef NO_OTHERS
#define OTHERS(n) true
#else
#define OTHERS(n) (LOOKED_AT(n, 0) && LOOKED_AT(n, 1))
#endif

/* judge is a look at m1 once it is back. */
inline judge(n) {
	r[n].gap = 0;
	if
	:: r[n].back == 0 -> r[n].back = 1; printf("R%d: sees that m1 is back\n", n + 1)
	:: else
	fi;
	if
#ifdef OWN_MEMORY
	:: beat < r[n].seen -> quarantine(n)
	:: beat >= r[n].seen -> exempt(n)
#else
	:: beat < r[n].knows -> quarantine(n)
	:: beat >= r[n].knows && r[n].back > WAIT && LATER && OTHERS(n) -> exempt(n)
	:: else
#endif
	fi
}

inline quarantine(n) {
	printf("R%d: knows of beat %d, so m1 is in quarantine\n", n + 1, r[n].knows);
	over = 1
}

inline exempt(n) {
	printf("R%d: lets m1 vote, and another client takes m1 and m3\n", n + 1);
	assert(!taken); /* P1 */
	over = 1
}

inline older(x, most) {
	if
	:: x < most -> x++
	:: else
	fi
}

inline tick_node(n) {
	older(r[n].gap, MANY);
	older(r[n].age, S);
	older(r[n].moved, S);
	older(r[n].at[0].gap, MANY); older(r[n].at[1].gap, MANY);
	older(r[n].at[0].age, S); older(r[n].at[1].age, S);
	if
	:: r[n].back > 0 && r[n].back <= WAIT + LOOK -> r[n].back++
	:: else
	fi
}

inline tick() {
	printf("--- tick\n");
	tick_node(0); tick_node(1);
	if
	:: !lost -> time++
	:: else
	fi
}

/* A choice from 0 to most. */
inline choose(x, most) {
	x = 0;
	do
	:: x < most -> x++
	:: break
	od
}

#define NODE(n) \
	:: d_step { !over && RUNS(n) && !lost && REACHES(n) && r[n].gap >= LOOK -> look_m1(n, true) } \
	:: d_step { !over && RUNS(n) && !lost && REACHES(n) && r[n].gap >= LOOK && n == 0 && r[n].stills < STILLS && MAY_STAND -> look_m1(n, false) } \
	:: d_step { !over && RUNS(n) && !lost && REACHES(n) && r[n].seen != beat -> sees(n) } \
	:: d_step { !over && RUNS(n) && lost && REACHES(n) && r[n].gap >= LOOK -> judge(n) } \
	:: d_step { !over && RUNS(n) && r[n].at[0].gap >= LOOK -> look_at(n, 0) } \
	:: d_step { !over && RUNS(n) && r[n].at[1].gap >= LOOK -> look_at(n, 1) }

init {
	atomic {
		choose(r[0].gap, LOOK - 1); choose(r[0].age, S - 1); choose(r[0].moved, 1);
		choose(r[0].at[0].gap, LOOK - 1); choose(r[0].at[0].age, S - 1);
		choose(r[0].at[1].gap, LOOK - 1); choose(r[0].at[1].age, S - 1);
		r[0].line = 1;
		r[1].line = 1; r[1].gap = MANY; r[1].age = S; r[1].moved = S;
#ifdef CUT
		choose(r[1].at[0].gap, LOOK - 1); choose(r[1].at[0].age, S - 1);
		choose(r[1].at[1].gap, LOOK - 1); choose(r[1].at[1].age, S - 1)
#else
		r[1].still = 1;
		r[1].at[0].gap = MANY; r[1].at[0].age = S; r[1].at[0].news = 1;
		r[1].at[1].gap = MANY; r[1].at[1].age = S; r[1].at[1].news = 1
#endif
	}
	do
	NODE(0)
	NODE(1)
	:: d_step { !over && RUNS(0) && !lost && !taken && MAY_TAKE && r[0].gap <= LATEST && r[0].at[0].gap <= LATEST -> acquires() }
	:: d_step { !over && RUNS(0) && r[0].stills < STILLS && MAY_STAND -> stand_still(0) }
#ifdef FOR_GOOD
#else
	:: d_step { !over && !RUNS(0) -> goes_on(0) }
#endif
	:: d_step { !over && !RUNS(1) -> goes_on(1) }
	:: d_step { !over && !lost && time == AGE -> lose() }
	:: d_step { !over && lost && !up -> comes_back() }
	:: d_step { !over && (lost || time < AGE) && !DUE(0) && !DUE(1) -> tick() }
	:: over -> break
	od
}
