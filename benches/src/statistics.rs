//! Medians.

use std::time::Duration;

/// The values of one side.
#[derive(Debug, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn push_seconds(&mut self, value: Duration) {
        self.push(value.as_secs_f64());
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The smallest value: what a quiet machine would give.
    pub(crate) fn least(&self) -> f64 {
        self.quantile(0.0)
    }

    /// Values of both sides, run by run.
    pub(crate) fn with(&self, other: &Self, both: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| both(*a, *b)).collect())
    }

    fn quantile(&self, at: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let index = ((sorted.len().saturating_sub(1)) as f64 * at).round() as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    }
}

/// The median of the ratios of runs that followed one another.
pub(crate) fn ratio(ours: &Sample, theirs: &Sample) -> f64 {
    ours.with(theirs, |ours, theirs| ours / theirs).median()
}

/// One comparison with its bar.
pub(crate) fn verdict(what: &str, value: f64, bar: f64, unit: &str) {
    let word = if value <= bar { "met" } else { "MISSED" };
    println!("  {what:<52} {value:>9.3}{unit}  bar {bar}{unit}: {word}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios() {
        let sample = |values: &[f64]| Sample(values.to_vec());
        assert!((sample(&[3.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-9);
        assert!((sample(&[3.0, 1.0, 2.0]).least() - 1.0).abs() < 1e-9);
        let ratio = ratio(&sample(&[2.0, 9.0, 4.0]), &sample(&[1.0, 3.0, 2.0]));
        assert!((ratio - 2.0).abs() < 1e-9);
        assert!(Sample::default().median().is_nan());
    }
}
