//! The options of `fullclock net server` and `fullclock net client`.

use crate::cli::cpu_list;
use clap::{Args, ValueEnum};
use facts::{Bytes, CpuSet, quantity};
use lab::net::{LONGEST, MOST_ITERATIONS, MOST_STREAMS, protocol, sizes};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Whom a server listens to.
#[derive(Args, Debug)]
pub(crate) struct ServerArguments {
    /// The address to listen at: 0.0.0.0:7079 is every one of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7079")]
    pub(crate) listen: SocketAddr,
    /// The file that holds the token which a client has to know; made where there is none [default: net.token in
    /// /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The CPUs that this end's threads take turns on, a list like 0-3,8 [default: where the scheduler puts them]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// The RDMA port that tests over RDMA go over, mlx5_0 or mlx5_0/1 [default: the only one with a link]
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// End once no client was there for that long
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
}

/// What is measured, and against which server.
#[derive(Args, Debug)]
pub(crate) struct ClientArguments {
    /// Where `fullclock net server` listens; port 7079 unless it names one
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) server: String,
    /// What carries the data
    #[arg(long, value_name = "NAME", default_value = "tcp")]
    pub(crate) transport: Transport,
    /// What the test goes over on this end: the RDMA port mlx5_0 or mlx5_0/1 [default: the only one with a link]; over TCP the
    /// adapter whose ceiling is told beside the figures
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// What is measured
    #[arg(long, value_name = "NAME", default_value = "write-bw")]
    pub(crate) test: Test,
    /// The sizes of messages: powers of two from 2 to 8388608 with commas between, or all of them
    #[arg(long, value_name = "all|LIST", default_value = "all", value_parser = Sizes::parse)]
    pub(crate) sizes: Sizes,
    /// So many messages of each size over each stream [default: over RDMA 1000, as perftest has it]
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..=MOST_ITERATIONS))]
    pub(crate) iterations: Option<u64>,
    /// For so long with each size, at most 10 minutes; over RDMA whole seconds [default: over TCP 1s]
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    pub(crate) duration: Option<Duration>,
    /// How many connections carry data at once
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_STREAMS)))]
    pub(crate) streams: u32,
    /// Send without copying: the kernel hands the pages of a file in memory to the connection (sendfile(2)), as of data that
    /// nobody changes. Throughput over TCP only. Where it was measured, over loopback and virtual adapters, it moved no more
    #[arg(long, value_name = "WHEN", default_value = "off")]
    pub(crate) zero_copy: ZeroCopy,
    /// The CPUs that this end's threads take turns on, a list like 0-3,8 [default: where the scheduler puts them]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// A copy of the server's file with its token [default: net.token in /var/lib/fullclock as root, or in
    /// ~/.local/state/fullclock]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Write a page for a browser as well: figures, clocks and ledgers of both ends in one file that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print lines of CSV
    #[arg(long)]
    pub(crate) csv: bool,
}

/// What carries the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Connections of the kernel's TCP
    Tcp,
    /// RDMA, by the programs of perftest, which both ends need; they use TCP ports from 18515 on, too
    Rdma,
}

/// When data are sent without copying them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ZeroCopy {
    /// Of messages of 65536 bytes and more that move faster so in two short trials before the size is measured
    Auto,
    /// Always
    On,
    /// Never: every message is a write(2)
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Test {
    /// The client sends, the server counts what arrives
    WriteBw,
    /// The server sends, the client counts what arrives
    ReadBw,
    /// The client sends, the server names the memory for each message; over TCP write-bw is that
    SendBw,
    /// A message there and one back, in turn: half of the time
    Latency,
}

/// The sizes of messages, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<Bytes>);

impl Sizes {
    fn parse(text: &str) -> Result<Sizes, String> {
        sizes(text).map(Sizes)
    }
}

impl From<Transport> for protocol::Transport {
    fn from(transport: Transport) -> protocol::Transport {
        match transport {
            Transport::Tcp => protocol::Transport::Tcp,
            Transport::Rdma => protocol::Transport::Rdma,
        }
    }
}

impl From<Test> for protocol::Test {
    fn from(test: Test) -> protocol::Test {
        match test {
            Test::WriteBw => protocol::Test::WriteBw,
            Test::ReadBw => protocol::Test::ReadBw,
            Test::SendBw => protocol::Test::SendBw,
            Test::Latency => protocol::Test::Latency,
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = quantity::duration(text)?;
    if time > LONGEST {
        return Err(format!("{text:?} is too long: at most 10m for each size"));
    }
    Ok(time)
}

pub(crate) const SERVER_EXAMPLES: &str = "\
Examples:
  fullclock net server                          for clients on this machine
  fullclock net server --listen 0.0.0.0:7079    for others; then, on the client:
    scp db2:/var/lib/fullclock/net.token t
    fullclock net client db2 --token-file t";

pub(crate) const CLIENT_EXAMPLES: &str = "\
Examples:
  fullclock net client db2                      what arrives at db2, by size
  fullclock net client db2 --test latency --sizes 64,8192 -n 10000
  fullclock net client db2 --test read-bw --streams 4 --cpus 0-3 -d 5s
  fullclock net client db2 --transport rdma --test read-bw   as ib_read_bw -a
  fullclock net client db2 --csv > tcp.csv; fullclock net curve tcp.csv";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_both_fit_into_80_columns() {
        for line in [SERVER_EXAMPLES, CLIENT_EXAMPLES].iter().flat_map(|it| it.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn a_size_takes_ten_minutes_at_most() {
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        assert!(time("601s").unwrap_err().contains("at most 10m"));
    }
}
