use std::fmt;

use qrcode::{Color, EcLevel};

/// A QR code: rows of dark and light squares, without the required light border of four squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrCode {
    width: usize,
    dark: Vec<bool>,
}

/// The error for a text that is too long for a QR code.
#[derive(Debug)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text is too long for a QR code")
    }
}

impl std::error::Error for TooLong {}

impl QrCode {
    /// Encodes a text.
    ///
    /// # Errors
    ///
    /// The text has more than about 2,900 bytes.
    pub fn of(text: &str) -> Result<QrCode, TooLong> {
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::L).map_err(|_| TooLong)?;
        let (width, colors) = (code.width(), code.into_colors());
        Ok(QrCode { width, dark: colors.into_iter().map(|color| color == Color::Dark).collect() })
    }

    /// The rows: `1` is dark, `0` is light.
    pub fn rows(&self) -> Vec<String> {
        self.dark.chunks(self.width).map(|row| row.iter().map(|dark| if *dark { '1' } else { '0' }).collect()).collect()
    }

    /// Lines for a terminal with a border, two rows in each. Dark squares are blanks, which suits a dark terminal; on a
    /// light one, phones read it inverted.
    pub fn lines(&self) -> Vec<String> {
        const BORDER: isize = 2;
        let width = isize::try_from(self.width).unwrap_or(0);
        let dark = |row: isize, column: isize| {
            let inside = (0..width).contains(&row) && (0..width).contains(&column);
            let at = usize::try_from(row * width + column);
            inside && at.is_ok_and(|at| self.dark[at])
        };
        let rows = (-BORDER..width + BORDER).step_by(2);
        rows.map(|row| {
            let columns = -BORDER..width + BORDER;
            columns
                .map(|column| match (dark(row, column), dark(row + 1, column)) {
                    (true, true) => ' ',
                    (true, false) => '▄',
                    (false, true) => '▀',
                    (false, false) => '█',
                })
                .collect()
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_three_corners_and_both_forms_show_the_same() {
        let code = QrCode::of("http://192.168.1.5:7777/#j=k7d2m9xq4t").unwrap();
        let rows = code.rows();
        assert!(
            rows[0].starts_with("1111111")
                && rows[0].ends_with("1111111")
                && rows[rows.len() - 1].starts_with("1111111")
        );
        let lines = code.lines();
        assert_eq!(lines.len(), (rows.len() + 4).div_ceil(2));
        let upper: Vec<bool> = lines[1].chars().skip(2).take(7).map(|c| c == ' ' || c == '▄').collect();
        assert_eq!(upper, rows[0].chars().take(7).map(|c| c == '1').collect::<Vec<_>>());
        assert!(QrCode::of(&"x".repeat(4_000)).is_err());
    }
}
