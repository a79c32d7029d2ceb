//! A scheduler of sched_ext as an object file, for `bpftool struct_ops register`.
//!
//! The kernel has an answer to everything that such a scheduler leaves out: one that has a name and no program is whole
//! (Documentation/scheduler/sched-ext.rst). So the file needs no compiler: a structure in the section `.struct_ops`, and its type in
//! `.BTF` (Documentation/bpf/btf.rst). libbpf finds the kernel's structure of that name, and puts each member where the kernel has it.
//! libbpf 1.1 reads the kernel's types only where a program or a variable of the kernel needs them, so there is a variable, which need
//! not exist.

/// The name's room: SCX_OPS_NAME_LEN of kernel/sched/ext_internal.h.
const NAME: usize = 128;

/// The section of structures that are registered at once.
const SECTION: &str = ".struct_ops";

/// The section of the kernel's variables, and the name of none.
const KERNEL: &str = ".ksyms";
const NONE: &str = "none";

/// An object file with the scheduler `name`.
pub(crate) fn scheduler(name: &str) -> Vec<u8> {
    let mut value = name.as_bytes().to_vec();
    value.resize(NAME, 0);
    let mut strings = Strings::default();
    let variable = strings.add(name);
    let names = [SECTION, ".BTF", ".symtab", ".strtab"].map(|it| strings.add(it));
    // The first symbol is none; the second is global (1), an object (1), in the first section; the third is weak (2) and elsewhere.
    let symbol = |name: u32, kind: u8, section: u16, size: usize| {
        [u32s(&[name]), vec![kind, 0], u16s(&[section]), u64s(&[0, size as u64])].concat()
    };
    let elsewhere = symbol(strings.add(NONE), 0x20, 0, 0);
    let symbols = [vec![0; 24], symbol(variable, 0x11, 1, NAME), elsewhere].concat();
    let contents = [value, types(name), symbols, strings.0];
    let [progbits, symtab, strtab] = [1, 2, 3];
    // Type, flags (written, in memory), section of the names, first global symbol, alignment, size of an entry.
    let kinds = [
        (progbits, 3, 0, 0, 8, 0),
        (progbits, 0, 0, 0, 4, 0),
        (symtab, 0, 4, 1, 8, 24),
        (strtab, 0, 0, 0, 1, 0),
    ];
    let mut file = vec![0; HEADER];
    let mut headers = vec![0; 64];
    for ((content, name), (kind, flags, link, info, alignment, entry)) in
        contents.iter().zip(names).zip(kinds)
    {
        file.resize(file.len().next_multiple_of(8), 0);
        let place = [flags, 0, file.len() as u64, content.len() as u64];
        headers.extend([u32s(&[name, kind]), u64s(&place)].concat());
        headers.extend([u32s(&[link, info]), u64s(&[alignment, entry])].concat());
        file.extend(content);
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let header = header(file.len() as u64);
    file.splice(..HEADER, header);
    file.extend(headers);
    file
}

const HEADER: usize = 64;

/// Of a relocatable file (1) for BPF (247) with its headers of five sections at `headers`, the last of which has their names (elf(5)).
fn header(headers: u64) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend([u16s(&[1, 247]), u32s(&[1]), u64s(&[0, 0, headers]), u32s(&[0])].concat());
    header.extend(u16s(&[64, 0, 0, 64, 5, 4]));
    header
}

/// The types, of which one is a structure with nothing but a name.
fn types(variable: &str) -> Vec<u8> {
    let [int, array, structure, var, datasec] = [1u32, 3, 4, 14, 15];
    let mut strings = Strings::default();
    let kind = |kind: u32, n_members: u32| kind << 24 | n_members;
    let n = NAME as u32;
    // Each begins with its name, its kind, and its size or what it is of.
    let types = [
        // 1 and 2: numbers of eight bits and of 32; signed.
        vec![strings.add("char"), kind(int, 0), 1, 1 << 24 | 8],
        vec![strings.add("int"), kind(int, 0), 4, 1 << 24 | 32],
        // 3: as many of the first.
        vec![0, kind(array, 0), 0, 1, 2, n],
        // 4: its member is of the third type and at its begin.
        vec![strings.add("sched_ext_ops"), kind(structure, 1), n, strings.add("name"), 3, 0],
        // 5: a global one of the fourth.
        vec![strings.add(variable), kind(var, 0), 4, 1],
        // 6: the fifth is at the begin of the section.
        vec![strings.add(SECTION), kind(datasec, 1), n, 5, 0, n],
        // 7: one of the second type that is elsewhere (2), and 8: its section, which is not in the file.
        vec![strings.add(NONE), kind(var, 0), 2, 2],
        vec![strings.add(KERNEL), kind(datasec, 1), 0, 7, 0, 4],
    ];
    let types = u32s(&types.concat());
    let (n_types, n_strings) = (types.len() as u32, strings.0.len() as u32);
    let header = u32s(&[24, 0, n_types, n_types, n_strings]);
    [u16s(&[0xeb9f, 1]), header, types, strings.0].concat()
}

/// Names, each of which ends with a zero and is known by its place.
struct Strings(Vec<u8>);

impl Default for Strings {
    fn default() -> Self {
        Strings(vec![0])
    }
}

impl Strings {
    fn add(&mut self, text: &str) -> u32 {
        let place = self.0.len() as u32;
        self.0.extend(text.as_bytes());
        self.0.push(0);
        place
    }
}

fn u16s(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn u64s(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_le_bytes()).collect()
}
