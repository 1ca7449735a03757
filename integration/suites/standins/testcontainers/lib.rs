//! Stands in for the crate testcontainers where rslock's tests start containers
//! of Redis: starts the redis-server on the PATH, and ends it with the container.
use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

pub mod core {
    pub trait IntoContainerPort {
        fn tcp(self) -> u16;
    }

    impl IntoContainerPort for u16 {
        fn tcp(self) -> u16 {
            self
        }
    }

    pub struct WaitFor(pub(crate) String);

    impl WaitFor {
        pub fn message_on_stdout(text: &str) -> Self {
            WaitFor(text.to_string())
        }
    }
}

#[derive(Debug)]
pub struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl From<std::io::Error> for Failed {
    fn from(problem: std::io::Error) -> Self {
        Failed(problem.to_string())
    }
}

/// GenericImage is always Redis; the name and the port asked for say nothing.
pub struct GenericImage(String);

impl GenericImage {
    pub fn new(_name: &str, _tag: &str) -> Self {
        GenericImage(String::new())
    }

    pub fn with_exposed_port(self, _port: u16) -> Self {
        self
    }

    pub fn with_wait_for(self, text: core::WaitFor) -> Self {
        GenericImage(text.0)
    }
}

pub struct ContainerAsync<I> {
    server: Child,
    port: u16,
    _image: I,
}

impl<I> ContainerAsync<I> {
    pub async fn get_host_port_ipv4(&self, _inside: u16) -> Result<u16, Failed> {
        Ok(self.port)
    }
}

impl<I> Drop for ContainerAsync<I> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub mod runners {
    use super::*;

    pub trait AsyncRunner: Sized {
        fn start(self) -> impl std::future::Future<Output = Result<ContainerAsync<Self>, Failed>>;
    }

    impl AsyncRunner for GenericImage {
        async fn start(self) -> Result<ContainerAsync<Self>, Failed> {
            // Free when asked, and nothing else is in this network namespace.
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut server = Command::new("redis-server")
                .args(["--port", &port.to_string(), "--save", ""])
                .stdout(Stdio::piped())
                .spawn()?;
            let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
            let ready = lines.any(|line| line.is_ok_and(|l| l.contains(&self.0)));
            std::thread::spawn(move || lines.for_each(drop)); // else the pipe fills
            let container = ContainerAsync { server, port, _image: self };
            if ready {
                Ok(container)
            } else {
                Err(Failed("redis-server did not start".to_string()))
            }
        }
    }
}
