/// Returns the current time in UTC, such as `2026-11-22 04:28:07`. Dates are only shown; no game depends on them.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string()
}
