use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of requests a second that a client may send on average.
pub(super) const REQUESTS_PER_SECOND: u32 = 20;
/// The number of requests that may come at once.
pub(super) const BURST: u32 = 40;

/// A token bucket that limits the requests of one connection, or of all devices of one person.
#[derive(Debug)]
pub(super) struct Pace(Mutex<Bucket>);

#[derive(Debug)]
struct Bucket {
    /// The time at which the bucket is full again.
    full_at: Instant,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace(Mutex::new(Bucket { full_at: Instant::now() }))
    }
}

impl Pace {
    /// Charges a request. Returns the time to wait if it came too early.
    pub fn take(&self, now: Instant) -> Result<(), Duration> {
        let each = Duration::from_secs(1) / REQUESTS_PER_SECOND;
        let mut bucket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = bucket.full_at.max(now) + each;
        let over = full_at.saturating_duration_since(now + each * BURST);
        if over.is_zero() {
            bucket.full_at = full_at;
            Ok(())
        } else {
            Err(over)
        }
    }
}

/// The number of wrong tokens and codes a minute, of all clients together, above which codes are refused for the rest
/// of the minute.
const MOST_FAILURES: u32 = 50;
const MINUTE: Duration = Duration::from_secs(60);

/// Counts wrong tokens and codes, so that nobody can try many codes. Valid tokens are accepted in any case: they are
/// too long to be guessed.
#[derive(Debug, Default)]
pub(super) struct Failures {
    began: Option<Instant>,
    count: u32,
}

impl Failures {
    pub fn add(&mut self, now: Instant) {
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= MINUTE) {
            (self.began, self.count) = (Some(now), 0);
        }
        self.count += 1;
    }

    /// The time until codes are accepted again; `None` if they are accepted now.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        let left = MINUTE.saturating_sub(now.saturating_duration_since(self.began?));
        (self.count >= MOST_FAILURES && !left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_15_a_burst_is_served_and_then_twenty_a_second() {
        let (pace, now) = (Pace::default(), Instant::now() + Duration::from_secs(1));
        let served = |now| (0..1_000).take_while(|_| pace.take(now).is_ok()).count();
        assert_eq!(served(now), 40);
        assert_eq!(pace.take(now), Err(Duration::from_millis(50)));
        assert_eq!(served(now + Duration::from_millis(50)), 1);
        assert_eq!(served(now + Duration::from_millis(1_050)), 20);
        assert_eq!(served(now + Duration::from_secs(60)), 40);
    }

    #[test]
    fn c3_15_after_fifty_wrong_codes_in_a_minute_codes_pause() {
        let (mut failures, now) = (Failures::default(), Instant::now());
        for _ in 0..49 {
            failures.add(now);
        }
        assert_eq!(failures.pause(now), None);
        failures.add(now);
        assert_eq!(failures.pause(now + Duration::from_secs(20)), Some(Duration::from_secs(40)));
        assert_eq!(failures.pause(now + MINUTE), None);
        failures.add(now + MINUTE);
        assert_eq!(failures.pause(now + MINUTE), None);
    }
}
