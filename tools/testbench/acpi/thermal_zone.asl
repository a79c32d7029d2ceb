/* A thermal zone whose passive trip point, 45 degrees, is no heat: the kernel slows both CPUs at what a processor has when it is idle.
 *
 * Its temperature in degrees is a byte in the configuration of the host bridge, 0 at boot (SKPD, a scratch register at 0xDC), which root
 * may write; here it is where the chipset maps it. The kernel reads it once a second. Temperatures are tenths of a Kelvin. See ACPI 6.5,
 * section 11.4 (_CRT, _PSV, _PSL, _TC1, _TC2, _TMP, _TSP, _TZP).
 */
DefinitionBlock ("thermal_zone.aml", "SSDT", 2, "BENCH", "HEAT", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)

    OperationRegion (\SCRT, SystemMemory, 0xB00000DC, 1)
    Field (\SCRT, ByteAcc, NoLock, Preserve) { DEGR, 8 }

    Scope (\_TZ)
    {
        ThermalZone (HEAT)
        {
            Method (_TMP, 0, Serialized) { Return (\DEGR * 10 + 2732) }
            Name (_CRT, 3732)
            Name (_PSV, 3182)
            Name (_PSL, Package () { \_SB.CPUS.C000, \_SB.CPUS.C001 })
            Name (_TC1, 1)
            Name (_TC2, 1)
            Name (_TSP, 10)
            Name (_TZP, 10)
        }
    }
}
