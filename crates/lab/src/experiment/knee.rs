//! Where a trade of two costs turns.
//!
//! Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee Points in System Behavior", ICDCS
//! Workshops 2011: the point of the curve that lies farthest below the straight line between its ends, both axes scaled to
//! that line. Here the curve is the points that no other one beats in both costs, and the axes are logarithms: a cost that
//! doubles weighs alike wherever it begins.

/// The place of the knee among points of two positive costs; `None` where no point lies below the line.
pub(super) fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let front = front(points);
    let (first, last) = (points[*front.first()?], points[*front.last()?]);
    let (width, height) = ((last.0 / first.0).ln(), (first.1 / last.1).ln());
    // Scaled, the line goes from (0, 1) to (1, 0); the distance from it is this by the square root of 2.
    let below = |at: usize| {
        let (x, y) = points[at];
        1.0 - (x / first.0).ln() / width - (y / last.1).ln() / height
    };
    let inner = front.get(1..front.len().checked_sub(1)?)?;
    let farthest = inner.iter().copied().max_by(|a, b| below(*a).total_cmp(&below(*b)))?;
    (below(farthest) > 0.0).then_some(farthest)
}

/// The points that no other one beats in both costs, by the first cost.
pub(super) fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (points[*a], points[*b]);
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut lowest = f64::INFINITY;
    order.retain(|at| {
        let is_lower = points[*at].1 < lowest;
        lowest = lowest.min(points[*at].1);
        is_lower
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_the_corner_of_the_front() {
        let points = [(1.0, 100.0), (1.2, 10.0), (10.0, 9.0), (11.0, 50.0), (100.0, 8.0)];
        assert_eq!(knee(&points), Some(1));
    }

    /// Elapsed seconds and busy percent, of a published study of kipmid_max_busy_us: default, force_kipmid=0, 5000 to 10 us.
    #[test]
    fn the_published_knee_rests_on_an_outlier() {
        let elapsed = [22.0, 621.0, 21.0, 22.0, 27.0, 24.0, 42.0, 68.0, 101.0, 163.0, 213.0];
        let busy = [103.15, 12.7, 100.16, 94.04, 26.89, 69.44, 46.72, 17.87, 22.91, 19.98, 13.19];
        let mut points: Vec<(f64, f64)> = elapsed.into_iter().zip(busy).collect();
        assert_eq!(knee(&points), Some(4), "1000 us");
        points.remove(4);
        assert_eq!(knee(&points), Some(6), "100 us");
    }

    #[test]
    fn what_bends_nowhere_has_no_knee() {
        assert_eq!(knee(&[(1.0, 100.0), (100.0, 1.0)]), None);
        assert_eq!(knee(&[(1.0, 100.0), (90.0, 90.0), (100.0, 1.0)]), None);
        assert_eq!(knee(&[(1.0, 1.0)]), None);
        assert_eq!(knee(&[]), None);
    }
}
