//! The steps of a lock by redis-rs: async over a multiplexed connection, in
//! RESP2, or in RESP3 when the first argument is 3.

use clients::{args, poll, refused, step, tell, version, Room};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, ExistenceCheck, Script, SetExpiry, SetOptions, Value};
use std::time::{Duration, Instant};

const RELEASE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const EXTEND: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

type Connection = MultiplexedConnection;

async fn connect(url: &str) -> Connection {
    Client::open(url)
        .expect("a URL")
        .get_multiplexed_async_connection()
        .await
        .expect("a connection")
}

async fn take(c: &Connection, key: &str, token: &str, ms: u64) -> Result<bool, String> {
    let how = SetOptions::default()
        .conditional_set(ExistenceCheck::NX)
        .with_expiration(SetExpiry::PX(ms));
    let reply: Result<Option<String>, _> = c.clone().set_options(key, token, how).await;
    reply.map(|r| r.is_some()).map_err(|e| e.to_string())
}

async fn release(c: &Connection, key: &str, token: &str) -> Result<i64, String> {
    Script::new(RELEASE)
        .key(key)
        .arg(token)
        .invoke_async(&mut c.clone())
        .await
        .map_err(|e| e.to_string())
}

async fn extend(c: &Connection, key: &str, token: &str) -> Result<i64, String> {
    Script::new(EXTEND)
        .key(key)
        .arg(token)
        .arg(60000)
        .invoke_async(&mut c.clone())
        .await
        .map_err(|e| e.to_string())
}

async fn get(c: &Connection, key: &str) -> Result<Option<String>, redis::RedisError> {
    c.clone().get(key).await
}

async fn around(c: &Connection, key: &str, low: i64, high: i64) -> Result<bool, redis::RedisError> {
    let ms: i64 = c.clone().pttl(key).await?;
    Ok(ms > low && ms <= high)
}

#[tokio::main]
async fn main() {
    let (own, host, port, prefix) = args();
    let resp3 = own.first().is_some_and(|p| p == "3");
    let login = std::env::var("BENCH_PASSWORD").map(|p| format!(":{p}@")).unwrap_or_default();
    let url = |db: u8| {
        format!(
            "redis://{login}{host}:{port}/{db}{}",
            if resp3 { "?protocol=resp3" } else { "" }
        )
    };
    version(&["redis"]);
    let c = connect(&url(0)).await;
    let key = format!("{prefix}raw");
    let k = key.as_str();
    lock_steps(&c, k).await;
    script_steps(&c, k).await;
    transaction_steps(&url(0), &c, k).await;

    let other = connect(&url(1)).await;
    step("database, query", get(&other, k).await);
    step("database, take", take(&other, k, "one", 30000).await);
    step("database, release", release(&other, k, "one").await);
    step("database, still held", get(&c, k).await);
    let _ = release(&c, k, "two").await;
    let all: Result<(Value, String, i64), _> = redis::pipe()
        .cmd("SET")
        .arg(k)
        .arg("one")
        .arg("NX")
        .arg("PX")
        .arg(30000)
        .get(k)
        .del(k)
        .query_async(&mut c.clone())
        .await;
    step(
        "pipeline",
        all.map(|(set, got, gone)| format!("{set:?} {got} {gone}")),
    );
    time_steps(&url(0), &c, &key).await;
}

async fn lock_steps(c: &Connection, k: &str) {
    step("take", take(c, k, "one", 30000).await);
    step("refuse", take(c, k, "two", 30000).await);
    step("query", get(c, k).await);
    step("ttl", around(c, k, 25000, 30000).await);
    step("extend", extend(c, k, "one").await);
    step("extended", around(c, k, 55000, 60000).await);
    step("extend wrong", extend(c, k, "two").await);
    step(
        "extend missing",
        extend(c, &format!("{k}none"), "one").await,
    );
    step("release wrong", release(c, k, "two").await);
    step("release", release(c, k, "one").await);
    step("release missing", release(c, k, "one").await);
    step("query missing", get(c, k).await);
}

async fn script_steps(c: &Connection, k: &str) {
    let mut c1 = c.clone();
    let unknown = "0123456789012345678901234567890123456789";
    let none: Result<i64, _> = redis::cmd("EVALSHA")
        .arg(unknown)
        .arg(1)
        .arg(k)
        .arg("one")
        .query_async(&mut c1)
        .await;
    refused("unknown hash", none);
    let sha: Result<String, _> = redis::cmd("SCRIPT")
        .arg("LOAD")
        .arg(format!("{RELEASE} "))
        .query_async(&mut c1)
        .await;
    let hash = sha.as_ref().map(String::as_str).unwrap_or("").to_string();
    step("load", sha);
    let _ = take(c, k, "one", 30000).await;
    for name in ["by hash", "by hash, missing"] {
        let n: Result<i64, _> = redis::cmd("EVALSHA")
            .arg(&hash)
            .arg(1)
            .arg(k)
            .arg("one")
            .query_async(&mut c1)
            .await;
        step(name, n);
    }
}

async fn transaction_steps(url: &str, c: &Connection, k: &str) {
    let _ = take(c, k, "one", 30000).await;
    for (name, meddle) in [("transaction", false), ("transaction, changed", true)] {
        let mut own = connect(url).await;
        let _: Result<(), _> = redis::cmd("WATCH").arg(k).query_async(&mut own).await;
        let _: Result<Option<String>, _> = own.get(k).await;
        if meddle {
            let _ = release(c, k, "one").await;
            let _ = take(c, k, "two", 30000).await;
        }
        let done: Result<Option<(i64,)>, _> = redis::pipe()
            .atomic()
            .pexpire(k, 20000)
            .query_async(&mut own)
            .await;
        step(name, done.map(|d| d.map(|(n,)| n)));
    }
    step("still held", get(c, k).await);
}

async fn time_steps(url: &str, c: &Connection, key: &str) {
    let _ = take(c, key, "short", 200).await;
    step("expire, before", take(c, key, "two", 30000).await);
    step("expire", poll(10, || take(c, key, "two", 30000)).await);
    let start = Instant::now();
    let later = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        release(c, key, "two").await
    };
    let (_, taken) = tokio::join!(later, poll(10, || take(c, key, "three", 30000)));
    step(
        "wait",
        taken.map(|_| start.elapsed() >= Duration::from_millis(290)),
    );
    let _ = release(c, key, "three").await;
    for (name, equal) in [("many, unique tokens", false), ("many, equal tokens", true)] {
        let room = Room::new();
        let mut tasks = Vec::new();
        for w in 0..8 {
            let (room, c, key) = (room.clone(), connect(url).await, key.to_string());
            let token = if equal {
                "the same".to_string()
            } else {
                format!("worker {w}")
            };
            tasks.push(tokio::spawn(async move {
                for _ in 0..5 {
                    poll(20, || take(&c, &key, &token, 30000)).await?;
                    room.visit().await;
                    release(&c, &key, &token).await?;
                }
                Ok::<(), String>(())
            }));
        }
        let mut problem = None;
        for t in tasks {
            if let Err(e) = t.await.expect("a task") {
                problem = Some(e);
            }
        }
        match problem {
            Some(e) => tell(name, format!("FAILED {e}")),
            None => tell(name, room.result()),
        }
    }
}
