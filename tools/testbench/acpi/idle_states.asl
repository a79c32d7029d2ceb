/* C-states for the one CPU of a Bochs machine, whose firmware has none: those of a Sandy Bridge, by MWAIT.
 *
 * See ACPI 6.5, section 8.4.1.1 (_CST), and Intel's "Processor Vendor-Specific ACPI" for the registers: vendor 1, class 2
 * (native), the hint of MWAIT as the address. The hints and the time to leave are those of intel_idle (snb_cstates).
 */
DefinitionBlock ("idle_states.aml", "SSDT", 2, "BENCH", "IDLESTAT", 1)
{
    External (\_PR.CPU0, ProcessorObj)

    /* C1, and the processor's C6 as C2. Type, microseconds to leave, mW follow the register. */
    Scope (\_PR.CPU0)
    {
        Method (_CST, 0) { Return (Package () { 2,
            Package () { ResourceTemplate () { Register (FFixedHW, 1, 2, 0x00, 1) }, 1, 2, 1000 },
            Package () { ResourceTemplate () { Register (FFixedHW, 1, 2, 0x20, 1) }, 2, 104, 350 }
        }) }
    }
}
