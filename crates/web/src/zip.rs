//! A ZIP file whose entries are stored as they are: publications are compressed already, or compress well where they go.

use std::io::{Read, Result, Seek, SeekFrom, Write};

/// Larger files need another form of ZIP.
pub(crate) const LARGEST: u64 = u32::MAX as u64;

/// A file that is written entry by entry.
pub(crate) struct Zip<W> {
    out: W,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    sum: u32,
    bytes: u32,
    at: u32,
}

impl<W: Write + Seek> Zip<W> {
    pub(crate) fn new(out: W) -> Self {
        Zip { out, entries: Vec::new() }
    }

    /// One more file of this name.
    pub(crate) fn add(&mut self, name: &str, content: &mut dyn Read) -> Result<()> {
        let at = small(self.out.stream_position()?)?;
        // Sum and size stand before what they are about, and are known after it.
        let mut entry = Entry { name: name.to_owned(), sum: 0, bytes: 0, at };
        self.out.write_all(&entry.head())?;
        let mut sum = Sum::new();
        let mut bytes = 0u64;
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = content.read(&mut piece)?;
            if read == 0 {
                break;
            }
            sum.add(&piece[..read]);
            bytes += read as u64;
            self.out.write_all(&piece[..read])?;
        }
        (entry.sum, entry.bytes) = (sum.end(), small(bytes)?);
        let end = self.out.stream_position()?;
        self.out.seek(SeekFrom::Start(at.into()))?;
        self.out.write_all(&entry.head())?;
        self.out.seek(SeekFrom::Start(end))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the list of all entries.
    pub(crate) fn finish(mut self) -> Result<W> {
        let at = small(self.out.stream_position()?)?;
        for entry in &self.entries {
            self.out.write_all(&entry.listed())?;
        }
        let bytes = small(self.out.stream_position()?)? - at;
        let count = u16::try_from(self.entries.len()).map_err(std::io::Error::other)?;
        let mut end = vec![b'P', b'K', 5, 6, 0, 0, 0, 0];
        end.extend(count.to_le_bytes());
        end.extend(count.to_le_bytes());
        end.extend(bytes.to_le_bytes());
        end.extend(at.to_le_bytes());
        end.extend([0, 0]);
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn small(bytes: u64) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| std::io::Error::other("more than 4 GiB do not fit into a ZIP file"))
}

impl Entry {
    /// What stands before the content and in the list alike: names are UTF-8, nothing is compressed, and the day is the first
    /// that ZIP knows, so that the same files give the same bytes.
    fn common(&self) -> Vec<u8> {
        let mut out = vec![20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
        out.extend(self.sum.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend((self.name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out
    }

    fn head(&self) -> Vec<u8> {
        [b"PK\x03\x04".as_slice(), &self.common(), self.name.as_bytes()].concat()
    }

    fn listed(&self) -> Vec<u8> {
        // No comment, disk 0, no attributes.
        let rest = [[0; 10].as_slice(), &self.at.to_le_bytes(), self.name.as_bytes()].concat();
        [b"PK\x01\x02".as_slice(), &[20, 0], &self.common(), &rest].concat()
    }
}

/// The checksum of ZIP (CRC-32).
struct Sum(u32);

impl Sum {
    fn new() -> Self {
        Sum(u32::MAX)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 ^= u32::from(byte);
            for _ in 0..8 {
                self.0 = (self.0 >> 1) ^ (0xEDB8_8320 & (self.0 & 1).wrapping_neg());
            }
        }
    }

    fn end(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_everybody_else() {
        let mut sum = Sum::new();
        sum.add(b"1234");
        sum.add(b"56789");
        assert_eq!(sum.end(), 0xCBF4_3926);
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let made = || {
            let mut zip = Zip::new(std::io::Cursor::new(Vec::new()));
            zip.add("a.txt", &mut b"hello".as_slice()).expect("written");
            zip.add("ü.txt", &mut b"".as_slice()).expect("written");
            zip.finish().expect("finished").into_inner()
        };
        let bytes = made();
        assert_eq!(bytes, made());
        assert_eq!(bytes.len(), (30 + 5 + 5) + (30 + 6) + (46 + 5) + (46 + 6) + 22);
        assert_eq!(&bytes[bytes.len() - 22..][..4], b"PK\x05\x06");
    }
}
