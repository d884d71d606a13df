// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// Wakes a thread at a time of ``BootClock``, also after a suspension of the machine, or earlier when
/// it is raised.
public final class BootAlarm: Sendable {
    private let timer: OwnedDescriptor
    private let wake: WakeSignal

    public init() throws(SystemError) {
        let descriptor = latchkey_boot_timer()
        guard descriptor >= 0 else { throw .last("create a timer") }
        timer = OwnedDescriptor(adopting: descriptor)
        wake = try WakeSignal()
    }

    public func raise() { wake.raise() }

    /// Waits until a time of the clock, or until the alarm is raised. Only one thread may wait.
    ///
    /// - Parameters:
    ///   - deadline: in nanoseconds.
    ///   - clock: if it is not the machine's, the thread looks at it ten times a second, because its
    ///     times do not come by themselves.
    public func wait(until deadline: UInt64, of clock: BootClock) {
        guard clock.isMachine, latchkey_set_boot_timer(timer.rawValue, deadline) == 0 else {
            return wake.wait(milliseconds: 100)
        }
        wake.wait(for: timer.rawValue, events: Int16(POLLIN), milliseconds: -1)
    }
}
