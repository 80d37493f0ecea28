use std::fmt;

/// A version of up to three numbers, `1`, `0.1` or `0.0.3`; missing numbers count as 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 3]);

impl Version {
    /// The version of this engine.
    pub(crate) fn of_engine() -> Self {
        Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or(Version([0; 3]))
    }

    /// Parses a version. An ending such as `-beta.2` or `+build` is ignored. `None` if the text is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next()?;
        let mut version = [0; 3];
        for (place, number) in numbers.split('.').enumerate() {
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            *version.get_mut(place)? = number.parse().ok()?;
        }
        Some(Version(version))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number_and_not_by_letter() {
        let parse = |text| Version::parse(text).unwrap();
        assert!(parse("0.10") > parse("0.9.9"));
        assert_eq!(parse("1"), parse("1.0.0"));
        assert_eq!(parse("0.1.0-beta.2"), parse("0.1"));
        for bad in ["", "1.", ".1", "1.2.3.4", "v1", "1.x", "99999999999"] {
            assert_eq!(Version::parse(bad), None, "{bad}");
        }
        assert_ne!(Version::of_engine(), Version([0; 3]));
    }
}
