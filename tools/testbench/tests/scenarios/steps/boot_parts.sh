# A study of what takes a reboot: each boot runs a part of it, and tells what the next boot line is to have.
studies=/disk/studies changes=/disk/changes

# boot_loader: Debian's, as far as an edit of the boot line looks at it. Its files are on the disk, as all of /etc is.
boot_loader() {
    mkdir -p /etc/default/grub.d /usr/sbin
    [ -f /etc/default/grub ] || echo 'GRUB_CMDLINE_LINUX_DEFAULT=""' >/etc/default/grub
    printf '#!/bin/sh\n' >/usr/sbin/update-grub
    chmod +x /usr/sbin/update-grub
}

# next_line: what that boot loader would give the kernel.
next_line() {
    GRUB_CMDLINE_LINUX_DEFAULT=
    for file in /etc/default/grub.d/*.cfg; do [ ! -f "$file" ] || . "$file"; done
    echo "line:$GRUB_CMDLINE_LINUX_DEFAULT"
}

# rest_of_tree: without the file that the boot line is edited in, and a thread that ends once it has formatted the disk.
rest_of_tree() { tree | grep -v -e '^/etc/default/grub.d/' -e '^ext4lazyinit'; }

# part <arguments>: begins the study, or goes on with the one that there is.
part() {
    boot_loader
    rest_of_tree >/tmp/before
    echo "boot: $(cut -c1-8 /proc/sys/kernel/random/boot_id) $(ls -d $cpus/cpu0/cpuidle/state* | wc -l)"
    [ ! -d $studies ] || set -- resume
    fullclock experiment "$@" --results $studies --state-dir $changes >/tmp/printed 2>/tmp/said
    echo "ended: $?, left: $(rest_of_tree | diff /tmp/before - | words)"
    echo "said: $(tail -n 1 /tmp/said)"
    cat /tmp/said >&2
    # The same boot runs nothing more.
    fullclock experiment resume --results $studies --state-dir $changes 2>&1 | tail -n 1 | sed 's/^/again: /'
    next_line
    fullclock status --state-dir $changes | sed 's/^/status: /'
    [ -z "$(ls $studies/*/[0-9]*.json 2>/dev/null)" ] || { echo whole: && cat $studies/*/[0-9]*.json $studies/*/report.json; }
}
