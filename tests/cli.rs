//! The program as it is called: transcripts of sessions, with what they print.

#[test]
fn transcripts_are_as_written() {
    trycmd::TestCases::new().case("tests/cli/*.trycmd").env("NO_COLOR", "1");
}
