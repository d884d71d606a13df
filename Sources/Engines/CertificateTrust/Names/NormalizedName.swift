// SPDX-License-Identifier: Apache-2.0

/// A name in the form that two equal names share, to be looked up by.
struct NormalizedName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: DistinguishedName) { bytes = name.normalized }

    func hash(into hasher: inout Hasher) {
        // At once, since a byte at a time is slow.
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
