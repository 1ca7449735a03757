//! rslock over one server.

use clients::{args, poll, refused, step, tell, version, Room};
use rslock::{Lock, LockManager};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);

fn manager(url: &str, tries: u32) -> LockManager {
    let mut m = LockManager::new(vec![url]);
    m.set_retry(tries, Duration::from_millis(10));
    m
}

fn forged(lock: &Lock) -> Lock {
    Lock {
        resource: lock.resource.clone(),
        val: b"another token of 20b".to_vec(),
        validity_time: lock.validity_time,
        lock_manager: lock.lock_manager.clone(),
    }
}

#[tokio::main]
async fn main() {
    let (_, host, port, prefix) = args();
    let url = format!("redis://{host}:{port}/");
    version(&["rslock", "redis"]);
    let (once, often) = (manager(&url, 1), manager(&url, 2000));
    let key = format!("{prefix}rslock");
    let k = key.as_bytes();

    let mine = once.lock(k, LONG).await;
    tell("take", mine.is_ok());
    let Ok(mine) = mine else { return };
    refused("refuse", once.lock(k, LONG).await);
    step("query", once.is_freed(&mine).await);
    refused("query wrong", once.is_freed(&forged(&mine)).await);
    step(
        "extend",
        once.extend(&mine, LONG * 2)
            .await
            .map(|l| l.validity_time > 55000),
    );
    refused("extend wrong", once.extend(&forged(&mine), LONG).await);
    once.unlock(&forged(&mine)).await;
    step("release wrong", once.is_freed(&mine).await);
    once.unlock(&mine).await;
    refused("release", once.is_freed(&mine).await);
    refused("extend missing", once.extend(&mine, LONG).await);
    once.unlock(&mine).await;
    refused("release missing", once.is_freed(&mine).await);

    step(
        "take briefly",
        once.lock(k, Duration::from_millis(300)).await.map(|_| true),
    );
    refused("expire, before", once.lock(k, LONG).await);
    step(
        "expire",
        poll(10, || async {
            Ok(once.lock(k, Duration::from_millis(400)).await.is_ok())
        })
        .await,
    );
    let next = often.lock(k, LONG).await;
    step("take after that", next.as_ref().map(|_| true));
    if let Ok(next) = next {
        let start = Instant::now();
        let later = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            often.unlock(&next).await;
        };
        let (_, taken) = tokio::join!(later, often.acquire_no_guard(k, LONG));
        step(
            "wait",
            taken
                .as_ref()
                .map(|_| start.elapsed() >= Duration::from_millis(290)),
        );
        if let Ok(l) = taken {
            often.unlock(&l).await;
        }
    }
    let room = Room::new();
    let mut tasks = Vec::new();
    for _ in 0..6 {
        let (room, m, key) = (room.clone(), often.clone(), key.clone());
        tasks.push(tokio::spawn(async move {
            for _ in 0..5 {
                let l = m
                    .acquire_no_guard(key.as_bytes(), LONG)
                    .await
                    .expect("a lock");
                room.visit().await;
                m.unlock(&l).await;
            }
        }));
    }
    for t in tasks {
        t.await.expect("a task");
    }
    tell("many, unique tokens", room.result());
}
