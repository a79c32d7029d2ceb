//! The firmware's tables as dmidecode prints them, as the files of /sys/class/dmi/id.

use host::Answers;

/// Section and line of dmidecode, and the file of drivers/firmware/dmi-id.c with the same content.
const LINES: [(&str, &str, &str); 6] = [
    ("BIOS Information", "Vendor", "bios_vendor"),
    ("BIOS Information", "Version", "bios_version"),
    ("BIOS Information", "Release Date", "bios_date"),
    ("System Information", "Manufacturer", "sys_vendor"),
    ("System Information", "Product Name", "product_name"),
    ("Base Board Information", "Product Name", "board_name"),
];

/// Chassis types of the SMBIOS specification, table 17, by the names that dmidecode prints.
const CHASSIS: [(&str, u32); 9] = [
    ("Other", 1),
    ("Unknown", 2),
    ("Desktop", 3),
    ("Tower", 7),
    ("Laptop", 9),
    ("Notebook", 10),
    ("Main Server Chassis", 17),
    ("Rack Mount Chassis", 23),
    ("Mini PC", 35),
];

/// Imports the first table of each kind, as the kernel does.
pub(super) fn import(answers: &mut Answers, text: &str) {
    let file = |name: &str| format!("/sys/class/dmi/id/{name}");
    for (section, line, name) in LINES {
        if let Some(value) = value(text, section, line) {
            answers.file(&file(name), format!("{value}\n"));
        }
    }
    let chassis = value(text, "Chassis Information", "Type");
    let number = CHASSIS.iter().find(|(name, _)| chassis == Some(name));
    if let Some((_, number)) = number {
        answers.file(&file("chassis_type"), format!("{number}\n"));
    }
}

fn value<'a>(text: &'a str, section: &str, line: &str) -> Option<&'a str> {
    let inside = text.lines().skip_while(|it| *it != section).skip(1);
    let mut lines = inside.take_while(|it| it.starts_with('\t'));
    lines.find_map(|it| it.trim().strip_prefix(line)?.strip_prefix(": "))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_line_counts_only_in_its_section() {
        let text = "BIOS Information\n\tVendor: AMI\n\nSystem Information\n\tProduct Name: R740\n";
        assert_eq!(value(text, "BIOS Information", "Vendor"), Some("AMI"));
        assert_eq!(value(text, "BIOS Information", "Product Name"), None);
        assert_eq!(value(text, "System Information", "Product Name"), Some("R740"));
    }
}
