/// Returns the path of the value in which reading a JSON text stopped, such as `books.red[1]`; empty for the whole value.
///
/// `end`: the number of bytes read. `inside`: false if the last member of an object was read well, and the object lacks another.
/// A second reader that follows every type along would find the same path, and doubles the code for each of them.
pub(crate) fn json_path(text: &[u8], end: usize, inside: bool) -> String {
    let mut walk = JsonWalk::default();
    let mut at = 0;
    while at < end.min(text.len()) {
        at = walk.step(text, at);
    }
    let lacks_a_member = !inside && text[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'}');
    if lacks_a_member && let Some(JsonPlace::Member(key)) = walk.places.last_mut() {
        *key = None;
    }
    walk.path()
}

/// The place in a container that is being read.
enum JsonPlace {
    /// The key of the current member of an object; `None` before its colon.
    Member(Option<String>),
    /// The index of the current item of an array.
    Item(usize),
}

#[derive(Default)]
struct JsonWalk {
    places: Vec<JsonPlace>,
    /// The last text that was read: a key, if a colon follows.
    text: String,
}

impl JsonWalk {
    /// Reads the token at a place. Returns the place after it.
    fn step(&mut self, text: &[u8], at: usize) -> usize {
        match text[at] {
            b'{' => self.places.push(JsonPlace::Member(None)),
            b'[' => self.places.push(JsonPlace::Item(0)),
            b'}' | b']' => {
                self.places.pop();
            }
            b':' => {
                if let Some(JsonPlace::Member(key)) = self.places.last_mut() {
                    *key = Some(std::mem::take(&mut self.text));
                }
            }
            b',' => match self.places.last_mut() {
                Some(JsonPlace::Member(key)) => *key = None,
                Some(JsonPlace::Item(index)) => *index += 1,
                None => {}
            },
            b'"' => return self.read_text(text, at),
            _ => {}
        }
        at + 1
    }

    fn read_text(&mut self, text: &[u8], from: usize) -> usize {
        let mut at = from + 1;
        while at < text.len() && text[at] != b'"' {
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        let end = (at + 1).min(text.len());
        self.text = serde_json::from_slice(&text[from..end]).unwrap_or_default();
        end
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for place in &self.places {
            match place {
                JsonPlace::Member(Some(key)) if path.is_empty() => path.push_str(key),
                JsonPlace::Member(Some(key)) => path.extend([".", key]),
                JsonPlace::Member(None) => {}
                JsonPlace::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(read: &str, rest: &str, inside: bool) -> String {
        json_path(format!("{read}{rest}").as_bytes(), read.len(), inside)
    }

    #[test]
    fn a_path_leads_to_the_last_value() {
        assert_eq!(of(r#"{ "a,": [1, {"b\"c": "x:{""#, "}]}", true), "a,[1].b\"c");
        assert_eq!(of(r#"{"a": {"b": 1}, "c": [[], [2"#, "]]}", true), "c[1][0]");
        assert_eq!(of(r#"{"a": 1, "b""#, ": 2}", true), "");
        assert_eq!(of("3", "", true), "");
    }

    #[test]
    fn the_path_of_a_missing_member_is_that_of_its_object() {
        assert_eq!(of(r#"{"a": {"b": 1"#, "} }", false), "a");
        assert_eq!(of(r#"{"a": {"b": 1}"#, " }", false), "");
        assert_eq!(of(r#"{"a": [{"kind": 1}"#, ", {}] }", false), "a[0]");
        assert_eq!(of(r#"{"a": {"#, "} }", false), "a");
    }
}
