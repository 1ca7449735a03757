//! What the Rust programs share: how a step is told, and contests of tasks.

use serde_json::{json, Value};
use std::fmt::Display;
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Own arguments, host, port and prefix.
pub fn args() -> (Vec<String>, String, u16, String) {
    let mut all: Vec<String> = std::env::args().skip(1).collect();
    let prefix = all.pop().expect("a prefix");
    let port = all.pop().expect("a port").parse().expect("a number");
    let host = all.pop().expect("a host");
    (all, host, port, prefix)
}

pub fn tell(step: &str, result: impl Into<Value>) {
    println!("{}", json!({ step: result.into() }));
}

/// Tells the versions that Cargo.lock pins.
pub fn version(packages: &[&str]) {
    let lock = include_str!("../Cargo.lock");
    let found: Vec<&str> = packages
        .iter()
        .filter_map(|p| {
            let (_, after) = lock.split_once(&format!("name = \"{p}\"\nversion = \""))?;
            after.split('"').next()
        })
        .collect();
    tell("version", found.join(" "));
}

pub fn step<T: Into<Value>, E: Display>(name: &str, result: Result<T, E>) {
    match result {
        Ok(v) => tell(name, v),
        Err(e) => tell(name, format!("FAILED {e}")),
    }
}

pub fn refused<T, E: Display>(name: &str, result: Result<T, E>) {
    match result {
        Ok(_) => tell(name, "FAILED: no error"),
        Err(e) => tell(name, e.to_string()),
    }
}

/// Calls until it is true. The masters keep a lock a little longer.
pub async fn poll<F, R>(seconds: u64, mut call: F) -> Result<bool, String>
where
    F: FnMut() -> R,
    R: Future<Output = Result<bool, String>>,
{
    let end = Instant::now() + Duration::from_secs(seconds);
    while !call().await? {
        if Instant::now() > end {
            return Err(format!("still refused after {seconds} s"));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(true)
}

/// Who is inside at once.
#[derive(Default)]
pub struct Room {
    inside: AtomicI64,
    most: AtomicI64,
    done: AtomicI64,
}

impl Room {
    pub fn new() -> Arc<Room> {
        Arc::new(Room::default())
    }

    pub async fn visit(&self) {
        let n = self.inside.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(n, SeqCst);
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.inside.fetch_sub(1, SeqCst);
        self.done.fetch_add(1, SeqCst);
    }

    pub fn result(&self) -> Value {
        json!({"rounds": self.done.load(SeqCst), "at once": self.most.load(SeqCst)})
    }
}
