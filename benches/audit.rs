//! How long facts and checks take by themselves, without a disk under them.
//!
//! The host is a made-up server's capture, held in memory: `parse` reads the capture's text, `view` has every
//! reader ask it, `audit` runs every check on the view. `cargo bench -p xtask` runs them;
//! `benches/whole_process.sh` measures the program as users run it.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use facts::Origin;
use host::{Captured, Identity};
use std::hint::black_box;
use xtask::tree::Server;

criterion_group!(benches, made_up_servers);
criterion_main!(benches);

fn made_up_servers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("host");
    group.sample_size(10);
    for n_cpus in [1024, 4096] {
        let text = capture_of_server(n_cpus);
        group.bench_with_input(BenchmarkId::new("parse", n_cpus), &text, |bencher, text| {
            bencher.iter(|| Captured::parse(black_box(text)).is_ok());
        });
        let Ok(host) = Captured::parse(&text) else { return };
        group.bench_with_input(BenchmarkId::new("view", n_cpus), &host, |bencher, host| {
            bencher.iter(|| host::view(black_box(host)));
        });
        let view = host::view(&host);
        group.bench_with_input(BenchmarkId::new("audit", n_cpus), &view, |bencher, view| {
            bencher.iter(|| rules::audit::audit(black_box(view)));
        });
    }
    group.finish();
}

fn capture_of_server(n_cpus: u32) -> String {
    let answers = Server::new(n_cpus).map(Server::answers).unwrap_or_default();
    answers.capture(Origin::Tree, &Identity::default())
}
