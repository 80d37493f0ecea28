//! Reads the types of the vocabulary, as `riskbreaker types` writes them: the keys of a table, the words of a union,
//! the parameters of a function.

use riskbreaker_check::{closing_bracket, pieces_of_type};

/// The module of types of a ruleset.
pub(super) struct TypeText(pub String);

/// How many names of types are followed.
const LONGEST_CHAIN: usize = 8;

impl TypeText {
    /// The type of this name, without comments.
    fn alias(&self, name: &str) -> Option<String> {
        let begin = format!("export type {name} = ");
        let at = self.0.find(&format!("\n{begin}"))? + 1 + begin.len();
        let mut ty = String::new();
        let mut depth = 0usize;
        for line in self.0[at..].lines() {
            let code = line.split("-- ").next().unwrap_or_default();
            if depth == 0 && !ty.is_empty() && !code.trim_start().starts_with(['&', '|']) {
                break;
            }
            for letter in code.chars() {
                match letter {
                    '(' | '{' | '[' => depth += 1,
                    ')' | '}' | ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            ty.push_str(code);
            ty.push(' ');
        }
        Some(ty)
    }

    /// The parts of an intersection or a union, with names replaced by their types.
    fn parts(&self, ty: &str, links: usize) -> Vec<String> {
        let ty = unwrapped(ty);
        for mark in ['&', '|'] {
            let pieces = pieces_of_type(ty, mark);
            if pieces.len() > 1 {
                return pieces.iter().flat_map(|piece| self.parts(piece, links)).collect();
            }
        }
        let is_name = ty.starts_with(|letter: char| letter.is_ascii_uppercase())
            && ty.chars().all(|letter| letter.is_ascii_alphanumeric());
        match (links.checked_sub(1), is_name.then(|| self.alias(ty)).flatten()) {
            (Some(links), Some(meant)) => self.parts(&meant, links),
            _ => vec![ty.to_owned()],
        }
    }

    /// The keys of a table type with their types.
    pub fn keys(&self, ty: &str) -> Vec<(String, String)> {
        let tables = self.parts(ty, LONGEST_CHAIN).into_iter();
        let inner = tables.filter_map(|part| Some(part.strip_prefix('{')?.strip_suffix('}')?.to_owned()));
        inner.flat_map(|inner| pieces_of_type(&inner, ',').into_iter().filter_map(key_of).collect::<Vec<_>>()).collect()
    }

    /// The type of the elements of a list.
    pub fn element(&self, ty: &str) -> Option<String> {
        self.parts(ty, LONGEST_CHAIN).into_iter().find_map(|part| {
            let inner = part.strip_prefix('{')?.strip_suffix('}')?.trim().to_owned();
            (pieces_of_type(&inner, ',').len() == 1 && key_of(&inner).is_none()).then_some(inner)
        })
    }

    /// The words of a union of texts.
    pub fn words(&self, ty: &str) -> Vec<String> {
        let parts = self.parts(ty, LONGEST_CHAIN).into_iter();
        parts.filter_map(|part| Some(part.strip_prefix('"')?.strip_suffix('"')?.to_owned())).collect()
    }

    /// The types of the parameters of a function; of one with several forms, of the form whose first parameter is this
    /// text.
    pub fn parameters(&self, ty: &str, first: Option<&str>) -> Vec<String> {
        let forms: Vec<Vec<String>> =
            self.parts(ty, LONGEST_CHAIN).iter().filter_map(|form| parameters_of(form)).collect();
        let text = first.map(|first| format!("{first:?}"));
        let fits = |form: &&Vec<String>| text.as_ref().is_some_and(|text| form.first() == Some(text));
        let form = forms.iter().find(fits).or(forms.first().filter(|_| forms.len() == 1));
        form.cloned().unwrap_or_default()
    }
}

/// Returns `a` and `T` for `a: T`.
fn key_of(piece: &str) -> Option<(String, String)> {
    let (name, ty) = piece.split_once(':')?;
    let name = name.trim();
    let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    (is_name && !name.is_empty()).then(|| (name.to_owned(), ty.trim().to_owned()))
}

fn parameters_of(form: &str) -> Option<Vec<String>> {
    let form = unwrapped(form);
    let inside = form.strip_prefix('(')?;
    let end = closing_bracket(inside)?;
    inside[end + 1..].trim_start().strip_prefix("->")?;
    let params = pieces_of_type(&inside[..end], ',');
    Some(params.into_iter().map(|param| param.split_once(':').map_or(param, |(_, ty)| ty).trim().to_owned()).collect())
}

/// A type without the brackets around it and without the mark of an optional one.
fn unwrapped(ty: &str) -> &str {
    let mut ty = ty.trim();
    loop {
        let inner = ty.trim_end_matches('?').trim();
        let whole = inner.strip_prefix('(').filter(|inside| closing_bracket(inside) == Some(inside.len() - 1));
        match whole {
            Some(inside) => ty = inside[..inside.len() - 1].trim(),
            None => return inner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types() -> TypeText {
        TypeText(
            "--!strict\nexport type Colour = \"red\" | \"blue\"\nexport type Facts = { harm: number? }\nexport type Card = Facts & {\n\t-- its \
             name\n\tid: string,\n\tcolour: Colour?,\n\t[string]: any,\n}\nexport type Each = ((kind: \"a\", fields: { x: number \
             }?) -> { A })\n\t& ((kind: \"b\", fields: { y: number }?) -> { B })\n"
                .into(),
        )
    }

    #[test]
    fn keys_words_and_parameters_are_read_off_types() {
        let types = types();
        let names = |ty: &str| types.keys(ty).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("Card"), ["harm", "id", "colour"]);
        assert_eq!(names("{ string }"), Vec::<String>::new());
        assert_eq!(types.words("Colour?"), ["red", "blue"]);
        assert_eq!(types.words("(\"x\" | \"y\")?"), ["x", "y"]);
        assert_eq!(types.element("{ Card }").as_deref(), Some("Card"));
        assert_eq!(types.element("Card"), None);
        assert_eq!(types.parameters("(card: Card, n: number?) -> ()", None), ["Card", "number?"]);
        let of_b = types.parameters("Each", Some("b"));
        assert_eq!(names(&of_b[1]), ["y"]);
        assert!(types.parameters("Each", None).is_empty() && types.parameters("number", None).is_empty());
    }
}
