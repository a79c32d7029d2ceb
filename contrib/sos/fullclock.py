"""A plugin of sos (https://github.com/sosreport/sos): what keeps the CPUs below their clock.

Copy it to the folder of sos's plugins, /usr/lib/python3*/site-packages/sos/report/plugins/ on RHEL, SLES and their like,
/usr/lib/python3/dist-packages/sos/report/plugins/ on Debian and Ubuntu. `sos report -o fullclock` then runs it alone.
"""

from sos.report.plugins import (
    DebianPlugin,
    IndependentPlugin,
    Plugin,
    RedHatPlugin,
    UbuntuPlugin,
)


# sos 4.0, that of Debian 12, passes over plugins that are of no distribution.
class FullclockPlugin(
    Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin, IndependentPlugin
):
    """An audit by fullclock, and the capture from which it can be made again elsewhere."""

    short_desc = "CPU clock, audited by fullclock"
    plugin_name = "fullclock"
    profiles = ("system", "hardware", "performance")
    packages = ("fullclock",)
    commands = ("fullclock",)

    def setup(self):
        # A capture that is cut off is none: there is no limit on its size. It has no serial numbers, addresses and not the
        # host's name. Neither file holds the standard error.
        self.add_cmd_output(
            "fullclock capture",
            suggest_filename="fullclock.host",
            sizelimit=0,
            stderr=False,
        )
        self.add_cmd_output(
            "fullclock audit --json",
            suggest_filename="fullclock-audit.json",
            sizelimit=0,
            stderr=False,
        )
