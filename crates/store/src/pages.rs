//! Reads the rows of a damaged file page by page, without the header of the file and the trees of its tables.

use rusqlite::types::Value;

/// A row found in a page: its number and its columns. Its checksum shows whether it is intact.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRow {
    pub id: i64,
    pub columns: Vec<Value>,
}

/// The page size of our files, in bytes.
const PAGE: usize = 4096;
/// The first byte of a page with rows of a table.
const LEAF: u8 = 0x0d;
/// The size of the file header, which precedes that of the first page.
const FILE_HEADER: usize = 100;
/// The most columns of a row.
const MOST_COLUMNS: usize = 16;

/// Returns all rows that can be decoded.
pub fn rows(bytes: &[u8]) -> Vec<FoundRow> {
    let mut found = Vec::new();
    for at in 0..bytes.len().div_ceil(PAGE) {
        let page = &bytes[at * PAGE..bytes.len().min((at + 1) * PAGE)];
        let header = if at == 0 { FILE_HEADER } else { 0 };
        if page.get(header) != Some(&LEAF) {
            continue;
        }
        let Some(cells) = number(page, header + 3, 2) else { continue };
        for cell in 0..cells as usize {
            let Some(offset) = number(page, header + 8 + 2 * cell, 2) else { break };
            found.extend(row(bytes, page, offset as usize));
        }
    }
    found
}

/// Decodes a number of `size` bytes, the high ones first.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(size)?)?;
    Some(part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Decodes a number of one to nine bytes. Returns it and its end.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for place in 0..9 {
        let byte = *bytes.get(at + place)?;
        if place == 8 {
            return Some((number << 8 | u64::from(byte), at + 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number, at + place + 1));
        }
    }
    None
}

fn row(file: &[u8], page: &[u8], at: usize) -> Option<FoundRow> {
    let (size, at) = varint(page, at)?;
    let (id, at) = varint(page, at)?;
    let size = usize::try_from(size).ok().filter(|size| *size <= file.len())?;
    columns(&payload(file, page, at, size)?).map(|columns| FoundRow { id: id as i64, columns })
}

/// Returns the content of a row, which may continue on other pages.
fn payload(file: &[u8], page: &[u8], at: usize, size: usize) -> Option<Vec<u8>> {
    let most = PAGE - 35;
    if size <= most {
        return Some(page.get(at..at + size)?.to_vec());
    }
    let least = (PAGE - 12) * 32 / 255 - 23;
    let here = least + (size - least) % (PAGE - 4);
    let here = if here <= most { here } else { least };
    let mut content = page.get(at..at + here)?.to_vec();
    let mut next = number(page, at + here, 4)? as usize;
    while content.len() < size {
        let start = next.checked_sub(1)?.checked_mul(PAGE)?;
        let other = file.get(start..start + PAGE)?;
        let part = (size - content.len()).min(PAGE - 4);
        content.extend(&other[4..4 + part]);
        next = number(other, 0, 4)? as usize;
    }
    Some(content)
}

fn columns(record: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = varint(record, 0)?;
    let header = usize::try_from(header).ok()?;
    let mut body = header;
    let mut columns = Vec::new();
    while at < header {
        let (kind, next) = varint(record, at)?;
        at = next;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            text => usize::try_from((text - 12) / 2).ok()?,
        };
        let part = record.get(body..body.checked_add(size)?)?;
        body += size;
        columns.push(match kind {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            1..=6 => {
                let number = part.iter().fold(0i64, |number, byte| number << 8 | i64::from(*byte));
                let unused = 64 - 8 * size as u32;
                Value::Integer(number << unused >> unused)
            }
            7 => return None,
            kind if kind % 2 == 0 => Value::Blob(part.to_vec()),
            _ => Value::Text(String::from_utf8(part.to_vec()).ok()?),
        });
        if columns.len() > MOST_COLUMNS {
            return None;
        }
    }
    (at == header).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;

    fn sample() -> Vec<u8> {
        let folder = std::env::temp_dir().join(format!("rbsave-pages-{}", std::process::id()));
        let _ = std::fs::remove_file(&folder);
        let connection = Connection::open(&folder).unwrap();
        connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b BLOB, c TEXT)").unwrap();
        for id in 1..300i64 {
            let blob = vec![id as u8; (id * id) as usize % 20_000];
            connection
                .execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", (id * 7, -id * id * 1_000, blob, "text"))
                .unwrap();
        }
        drop(connection);
        let bytes = std::fs::read(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        bytes
    }

    #[test]
    fn rows_are_found_without_the_trees() {
        let mut bytes = sample();
        bytes[..PAGE].fill(0);
        let mut found = rows(&bytes);
        found.sort_by_key(|row| row.id);
        assert_eq!(found.len(), 299);
        for (at, row) in found.iter().enumerate() {
            let id = at as i64 + 1;
            assert_eq!(row.id, id * 7);
            let blob = vec![id as u8; (id * id) as usize % 20_000];
            let expected =
                [Value::Null, Value::Integer(-id * id * 1_000), Value::Blob(blob), Value::Text("text".into())];
            assert_eq!(row.columns, expected);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_searched_for_rows(mut bytes in proptest::collection::vec(any::<u8>(), 0..9_000), leaf: bool) {
            if leaf && !bytes.is_empty() {
                bytes[0] = LEAF;
                if bytes.len() > PAGE {
                    bytes[PAGE] = LEAF;
                }
            }
            rows(&bytes);
        }
    }
}
