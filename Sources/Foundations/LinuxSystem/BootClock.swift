// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The time since the machine was booted, suspension included, and the identifier of that boot.
public struct BootClock: Sendable {
    /// Nanoseconds of CLOCK_BOOTTIME.
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
        now: {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        },
        identifier: {
            var text = [UInt8](repeating: 0, count: 36)
            let count = try? text.withUnsafeMutableBytes { buffer in
                try OwnedDescriptor(opening: "/proc/sys/kernel/random/boot_id", flags: O_RDONLY).read(
                    into: buffer, path: "boot_id")
            }
            return String(decoding: text.prefix(count ?? 0), as: UTF8.self)
        })
}
