/// The current moment in universal time, as `2026-11-22 04:28:07`. Dates are shown to people; no game depends on them.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string()
}
