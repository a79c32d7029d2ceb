//! What an interval of 1,000 trials by 10,000 draws takes: `cargo bench -p xtask --bench statistics`.

use criterion::Criterion;
use fastrand::Rng;
use lab::stats::{Bootstrap, Sample, Unfit, bootstrap};
use std::hint::black_box;

fn main() -> Result<(), Unfit> {
    let mut dice = Rng::with_seed(1);
    let trials = Sample::new((0..1000).map(|_| 0.03 + 0.001 * dice.f64()).collect())?;
    let wanted = Bootstrap { draws: 10_000, confidence: 0.95 };
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    criterion.bench_function("bootstrap", |bencher| {
        bencher.iter(|| black_box(bootstrap(black_box(&trials), wanted, &mut dice)));
    });
    criterion.final_summary();
    Ok(())
}
