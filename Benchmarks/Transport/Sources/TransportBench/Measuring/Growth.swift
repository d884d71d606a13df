// SPDX-License-Identifier: Apache-2.0

/// The resources of a process after the second round, when it has its lasting ones, and after the last.
struct Growth {
    /// Of one round, the median.
    let milliseconds: Double
    let connections: Int
    let before: ProcessUsage
    let after: ProcessUsage

    /// Swift's and Dispatch's pools may start and end threads between two rounds.
    private static let (maxThreads, maxDescriptors) = (8, 4)

    func excesses(maxGrowth: Int, maxConnections: Int) -> [String] {
        func excess(_ name: String, _ found: Int, _ limit: Int) -> String? {
            found > limit ? "expected at most \(limit) \(name), found \(found)" : nil
        }
        return [
            excess("KiB of growth", after.residentKiB - before.residentKiB, maxGrowth),
            excess("more threads", after.threads - before.threads, Self.maxThreads),
            excess("more descriptors", after.descriptors - before.descriptors, Self.maxDescriptors),
            excess("connections", connections, maxConnections),
        ].compactMap { $0 }
    }

    func row(_ name: String) -> [String] {
        let numbers = [
            connections, before.residentKiB, after.residentKiB, before.threads, after.threads, before.descriptors,
            after.descriptors,
        ]
        return [name, Text.decimal(milliseconds, 0)] + numbers.map(String.init)
    }
}
