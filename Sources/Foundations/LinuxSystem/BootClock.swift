// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The time since the machine was booted, suspension included, and the identifier of that boot.
public struct BootClock: Sendable {
    /// Nanoseconds of CLOCK_BOOTTIME; at least ``unreadable`` if the clock cannot be read.
    public let now: @Sendable () -> UInt64
    /// The kernel's random identifier of this boot, 36 characters; empty if there is no /proc.
    public let identifier: @Sendable () -> String
    /// Whether it is the machine's clock, and not that of a test.
    let isMachine: Bool

    public init(now: @escaping @Sendable () -> UInt64, identifier: @escaping @Sendable () -> String) {
        self.init(isMachine: false, now: now, identifier: identifier)
    }

    private init(
        isMachine: Bool, now: @escaping @Sendable () -> UInt64, identifier: @escaping @Sendable () -> String
    ) {
        (self.isMachine, self.now, self.identifier) = (isMachine, now, identifier)
    }

    public static let system = BootClock(
        isMachine: true,
        now: { SystemTime.read(.boot).flatMap(nanoseconds) ?? nextUnreadable() },
        identifier: {
            var text = [UInt8](repeating: 0, count: 36)
            let count = try? text.withUnsafeMutableBytes { buffer in
                try OwnedDescriptor(opening: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY).read(
                    into: buffer, path: "boot_id")
            }
            return String(decoding: text.prefix(count ?? 0), as: UTF8.self)
        })

    /// No time since a boot: 292 years. Readings of a clock that cannot be read begin here, and each is a second later
    /// than the one before, so that every wait for a deadline ends with an error.
    public static let unreadable = UInt64(1) << 63

    /// Returns the time; nil for more than 136 years, because the sum with a timeout could then overflow.
    static func nanoseconds(_ time: SystemTime) -> UInt64? {
        guard time.seconds <= UInt64(UInt32.max) else { return nil }
        return time.seconds * 1_000_000_000 + time.nanoseconds
    }

    private static func nextUnreadable() -> UInt64 {
        unreadable + UInt64(failures.wrappingAdd(1, ordering: .relaxed).newValue) * 1_000_000_000
    }

    private static let failures = Atomic<UInt32>(0)
}
