/* P-states and C-states for the two CPUs of a q35 machine, which has none of its own.
 *
 * A P-state is "set" by writing its number to a port and is in force when the same port reads that
 * number. The scratch registers of two serial ports that nothing else uses do just that: 0x3ef of the
 * third port for CPU 0, 0x2ef of the fourth for CPU 1. C2 is entered by reading a port, for which a
 * scratch register serves too. See ACPI 6.5, sections 8.4.1.1 (_CST) and 8.4.5 (_PCT, _PSS, _PSD).
 */
DefinitionBlock ("power_states.aml", "SSDT", 2, "BENCH", "PWRSTATE", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)

    /* MHz, mW, microseconds to switch, microseconds of bus pause, value to write, value to read */
    Name (\PSS, Package () {
        Package () { 2534, 80000, 10, 10, 3, 3 },
        Package () { 2133, 60000, 10, 10, 2, 2 },
        Package () { 1600, 40000, 10, 10, 1, 1 }
    })

    /* C1 is a halt; C2 takes 50 microseconds to leave. Type, latency, mW follow the register. */
    Name (\CST, Package () { 2,
        Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 2, 1000 },
        Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) }, 2, 50, 500 }
    })

    Scope (\_SB.CPUS.C000)
    {
        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) }
        })
        /* Five fields, revision, domain, any CPU of it may ask, CPUs in it: each CPU is its own. */
        Name (_PSD, Package () { Package () { 5, 0, 0, 0xFD, 1 } })
        Name (_PPC, 0)
        Method (_PSS, 0) { Return (\PSS) }
        Method (_CST, 0) { Return (\CST) }
    }

    Scope (\_SB.CPUS.C001)
    {
        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2EF) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2EF) }
        })
        Name (_PSD, Package () { Package () { 5, 0, 1, 0xFD, 1 } })
        Name (_PPC, 0)
        Method (_PSS, 0) { Return (\PSS) }
        Method (_CST, 0) { Return (\CST) }
    }
}
