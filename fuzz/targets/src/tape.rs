//! Tapes of strangers: whole ones, and samples whose checksums are right.

use facts::tape::frame::{HEAD_LENGTH, Head, Kind, frame};
use facts::tape::{Decoder, Encoder, Sample, Undecoded, Version};

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(reader) = host::tape::Reader::new("fuzz", bytes) {
        reader.for_each(drop);
    }
    // Payloads, each behind its length in one byte: a key frame and differences from it.
    let (mut decoder, mut rest, mut kind) = (Decoder::new(Version::Three), bytes, Kind::Key);
    for number in 0.. {
        let Some((length, others)) = rest.split_first() else { return };
        let (payload, others) = others.split_at(others.len().min(usize::from(*length)));
        let length = payload.len() as u8;
        rest = others;
        // As a stored block of DEFLATE: few random bytes inflate to sections.
        let stored = [&[0, length, 0, !length, 0xff][..], payload].concat();
        let framed = frame(kind, number, &stored).expect("a short payload");
        let Ok(sample) = decode(&mut decoder, &framed) else { return };
        let again = Encoder::new().frame(&sample).expect("a small sample");
        // What was written without thrift may be too short for its cells when it is written with it.
        if let Ok(read_back) = decode(&mut Decoder::new(Version::Three), &again) {
            assert_eq!(read_back, sample);
        }
        kind = Kind::Differences;
    }
}

fn decode(decoder: &mut Decoder, framed: &[u8]) -> Result<Sample, Undecoded> {
    let head = Head::parse(framed).expect("our own head is one");
    decoder.sample(&head, &framed[HEAD_LENGTH..])
}
