// SPDX-License-Identifier: Apache-2.0

/// A normalized distinguished name, as a dictionary key; equal names are equal keys.
struct NormalizedName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: DistinguishedName) { bytes = name.normalized }

    func hash(into hasher: inout Hasher) {
        // In one call, because hashing byte by byte is slow.
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
