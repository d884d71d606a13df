// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// Finds secrets in a stream of bytes: a table of their first eight bytes tells where one may begin, and then all bytes
/// are compared. Table, secrets and stream are in memory that is wiped.
final class CopyMatcher {
    /// The number of first bytes in the table: the length of the shortest secret.
    static let prefixLength = 8

    /// A secret in the stream.
    struct Match: Equatable {
        /// The number of bytes before it.
        let position: UInt64
        /// Of the secret in the list.
        let index: Int
    }

    private let secrets: [SharedSecret]
    private let longest: Int
    /// The first bytes of each secret, ascending, as numbers of 8 bytes.
    private let prefixes: SecretBytes
    /// The index of the secret of each prefix.
    private let order: [Int]
    /// A bit for each hash of a prefix.
    private let filter: SecretBytes
    private let window: WipedBuffer
    /// The position of the window's first byte.
    private var start: UInt64 = 0
    /// The number of comparisons with a secret, for the budget of the caller.
    private(set) var comparisons = 0

    /// - Parameter secrets: each of at least ``prefixLength`` bytes.
    init(_ secrets: [SharedSecret], windowLength: Int = 1 << 20) {
        precondition(secrets.allSatisfy { $0.count >= Self.prefixLength }, "a secret is too short")
        self.secrets = secrets
        longest = secrets.map(\.count).max() ?? Self.prefixLength
        window = WipedBuffer(max(windowLength, 2 * longest))
        let ordered = secrets.indices.sorted { Self.prefix(of: secrets[$0]) < Self.prefix(of: secrets[$1]) }
        order = ordered
        prefixes = SecretBytes(count: ordered.count * Self.prefixLength) { (bytes) throws(Never) in
            for (place, index) in ordered.enumerated() {
                bytes.storeBytes(
                    of: Self.prefix(of: secrets[index]), toByteOffset: place * Self.prefixLength, as: UInt64.self)
            }
        }
        filter = SecretBytes(count: 1 << 13) { (bytes) throws(Never) in
            for secret in secrets {
                let hash = Self.hash(Self.prefix(of: secret))
                bytes[hash >> 3] |= 1 << UInt8(hash & 7)
            }
        }
    }

    /// Returns the secrets that are whole in the stream so far and begin before the undecided rest.
    func matches(in bytes: SharedSecret) -> [Match] {
        // EXPOSE: bytes of the caller, compared here.
        bytes.withUnsafeBytes { matches(in: $0) }
    }

    private func matches(in bytes: UnsafeRawBufferPointer) -> [Match] {
        var (rest, found) = (bytes, [Match]())
        while !rest.isEmpty {
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(window.append(rest)))
            // A secret that begins later may continue in the next bytes.
            search(beginnings: window.count - longest + 1, &found)
        }
        return found
    }

    /// Returns the secrets in the undecided rest, at the end of the stream.
    func finish() -> [Match] {
        var found: [Match] = []
        search(beginnings: window.count - Self.prefixLength + 1, &found)
        return found
    }

    private func search(beginnings: Int, _ found: inout [Match]) {
        guard beginnings > 0 else { return }
        filter.withUnsafeBytes { filter in
            for offset in 0..<beginnings {
                let prefix = window.content.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let hash = Self.hash(prefix)
                guard filter[hash >> 3] & 1 << UInt8(hash & 7) != 0 else { continue }
                compare(prefix, at: offset, &found)
            }
        }
        window.removeFirst(beginnings)
        start += UInt64(beginnings)
    }

    private func compare(_ prefix: UInt64, at offset: Int, _ found: inout [Match]) {
        let rest = UnsafeRawBufferPointer(rebasing: window.content.dropFirst(offset))
        prefixes.withUnsafeBytes { prefixes in
            var place = Self.firstPlace(of: prefix, in: prefixes)
            while place < order.count,
                prefixes.loadUnaligned(fromByteOffset: place * Self.prefixLength, as: UInt64.self) == prefix
            {
                comparisons += 1
                // EXPOSE: compares the secret with bytes of the caller.
                let isEqual = secrets[order[place]].withUnsafeBytes { secret in
                    secret.count <= rest.count && rest.prefix(secret.count).elementsEqual(secret)
                }
                if isEqual { found.append(Match(position: start + UInt64(offset), index: order[place])) }
                place += 1
            }
        }
    }

    private static func firstPlace(of prefix: UInt64, in prefixes: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, prefixes.count / prefixLength)
        while low < high {
            let middle = (low + high) / 2
            let value = prefixes.loadUnaligned(fromByteOffset: middle * prefixLength, as: UInt64.self)
            if value < prefix { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func prefix(of secret: SharedSecret) -> UInt64 {
        // EXPOSE: into a table that is wiped.
        secret.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    private static func hash(_ prefix: UInt64) -> Int { Int((prefix &* 0x9E37_79B9_7F4A_7C15) >> 48) }
}
