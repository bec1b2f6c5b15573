//! How something grows.

/// The exponent b of y = a·x^b that fits best on logarithms, by least squares; none from fewer than two different x.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| logs.iter().map(value).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let across: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let both: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (across > 0.0).then(|| both / across)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    fn about(found: Option<f64>, expected: f64) {
        let found = found.expect("points enough");
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn powers_are_found() {
        for power in [0.0, 0.5, 1.0, 2.0, 3.5] {
            let points: Vec<(f64, f64)> = (1..6).map(f64::from).map(|x| (x, 3.0 * x.powf(power))).collect();
            about(exponent(&points), power);
        }
    }

    #[test]
    fn noise_is_averaged() {
        let points = [(1.0, 1.0), (10.0, 20.0), (100.0, 50.0), (1000.0, 1000.0)];
        let found = exponent(&points).expect("points enough");
        assert!((0.9..1.1).contains(&found), "{found}");
    }

    #[test]
    fn one_point_says_nothing() {
        assert_eq!(exponent(&[(1.0, 2.0)]), None);
        assert_eq!(exponent(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(exponent(&[]), None);
    }

    #[test]
    fn what_has_no_logarithm_is_left_out() {
        about(exponent(&[(0.0, 5.0), (1.0, 1.0), (2.0, 2.0), (3.0, 0.0)]), 1.0);
    }
}
