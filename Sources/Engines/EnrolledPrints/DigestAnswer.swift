// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The answer of latchkey-biometry-digest, always 34 bytes: the version (1), a status and 32 bytes.
enum DigestAnswer: Hashable, Sendable {
    /// Status 0; then the digest.
    case set(EnrolledSet)
    /// Status 1; then zeros. No print of the user is stored.
    case empty
    /// Status 2; then zeros. The prints cannot be read, or exceed a limit.
    case failure

    static let byteCount = 34
    private static let version: UInt8 = 1

    init(parsing bytes: [UInt8]) throws(EnrolledSetError) {
        guard bytes.count == Self.byteCount, let version = bytes.first, let status = bytes.dropFirst(1).first else {
            throw .invalidAnswer("\(bytes.count) bytes instead of \(Self.byteCount)")
        }
        guard version == Self.version else { throw .invalidAnswer("version \(version) instead of \(Self.version)") }
        let rest = Array(bytes.dropFirst(2))
        let isZero = rest.allSatisfy { $0 == 0 }
        switch (status, isZero) {
        case (0, false):
            guard let set = EnrolledSet(digest: rest) else { throw .invalidAnswer("a digest of \(rest.count) bytes") }
            self = .set(set)
        case (1, true): self = .empty
        case (2, true): self = .failure
        default: throw .invalidAnswer("status \(status) and \(isZero ? "zeros" : "a digest")")
        }
    }

    var bytes: [UInt8] {
        let (status, rest): (UInt8, [UInt8]) =
            switch self {
            case .set(let set): (0, set.digest)
            case .empty: (1, [UInt8](repeating: 0, count: EnrolledSet.digestLength))
            case .failure: (2, [UInt8](repeating: 0, count: EnrolledSet.digestLength))
            }
        return [Self.version, status] + rest
    }
}
