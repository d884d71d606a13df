// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel

/// The header of a file that counts: the newest one with a state that opens, if the other one is explained.
struct FoundHeader {
    /// Both headers.
    let bytes: [UInt8]
    /// The number of the header: 0 or 1.
    let index: Int
    let header: ContainerHeader
    let cipher: any ContainerCipher
    let state: ContainerState
    /// Why the other header may be as it is.
    let agreement: HeaderAgreement

    var map: ChunkMap { ChunkMap(state, header.layout, file: header.key.binding.file) }

    /// The headers of a new file. Both are equal.
    init(
        new header: ContainerHeader, _ state: ContainerState, _ cipher: any ContainerCipher
    ) {
        (self.header, self.state, self.cipher) = (header, state, cipher)
        bytes = header.encoded + header.encoded
        index = 0
        agreement = .equal
    }

    /// Chooses between both headers: an interrupted change leaves one of them as it was.
    ///
    /// - Parameter cipher: returns the cipher for a key that a header names.
    /// - Throws: ``FileProtectionError/headersDisagree`` if no interruption explains their difference.
    init(
        _ bytes: [UInt8], cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        var problem = FileProtectionError.damaged("its header was changed")
        var unavailable: FileKeyRecord?
        for (index, header) in try Self.candidates(bytes) where header.key != unavailable {
            do throws(FileProtectionError) {
                guard let found = try FoundHeader(bytes, index, header, cipher: cipher) else { continue }
                guard found.agreement != .unexplained else { throw unavailable == nil ? .headersDisagree : problem }
                self = found
                return
            } catch {
                // A closed class, and a key that is not available, are reported, and not answered with the
                // other header, unless that one proves that this is a damaged copy of it.
                switch error {
                case .wrongKey: if unavailable == nil { problem = error }
                case .key: if unavailable == nil { (unavailable, problem) = (header.key, error) }
                default: throw error
                }
            }
        }
        throw problem
    }

    /// Opens one of the headers, regardless of the other one; nil if its state does not open.
    init?(
        _ bytes: [UInt8], _ index: Int, _ header: ContainerHeader,
        cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        let opened = try cipher(header.key)
        guard let state = try header.state(with: opened) else { return nil }
        (self.bytes, self.index, self.header, self.cipher, self.state) = (bytes, index, header, opened, state)
        let parts = Self.parts(bytes)
        agreement = try HeaderAgreement(of: parts[1 - index], with: parts[index], header, opened)
    }

    /// Returns the headers that can be decoded, with their indices, the newest first; at least one.
    ///
    /// - Throws: ``FileProtectionError/unsupportedVersion(_:)`` if one of them has a newer version: the
    ///   other one is then an older state.
    static func candidates(_ bytes: [UInt8]) throws(FileProtectionError) -> [(index: Int, header: ContainerHeader)] {
        var headers: [(index: Int, header: ContainerHeader)] = []
        var problem: FileProtectionError?
        for (index, part) in parts(bytes).enumerated() {
            do throws(FileProtectionError) {
                headers.append((index, try ContainerHeader(decoding: part)))
            } catch {
                if case .unsupportedVersion = error { throw error }
                if problem == nil || problem == .notProtected { problem = error }
            }
        }
        guard headers.isEmpty else { return headers.sorted { $0.header.sequence > $1.header.sequence } }
        throw problem ?? .notProtected
    }

    /// The bytes of header 0 and of header 1. A short file has fewer.
    private static func parts(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let middle = min(ContainerFormat.headerLength, bytes.count)
        return [bytes[..<middle], bytes[middle...]]
    }
}

/// How the other header of a file agrees with the one that opens.
public enum HeaderAgreement: Sendable {
    /// Both are the same: no change was interrupted.
    case equal
    /// The other one has an earlier state of the file: a change was interrupted.
    case earlier
    /// The other one is a damaged copy of this one, so that no newer state is missing.
    case damagedCopy
    /// Nothing tells whether the other one had a newer state.
    case unexplained

    /// - Parameters:
    ///   - other: the bytes of the other header.
    ///   - bytes: those of the one that opens.
    init(
        of other: ArraySlice<UInt8>, with bytes: ArraySlice<UInt8>, _ header: ContainerHeader,
        _ cipher: any ContainerCipher
    ) throws(FileProtectionError) {
        guard !other.hasBytes(of: bytes) else {
            self = .equal
            return
        }
        // The file key authenticates the whole header, so that its sequence and its file are true.
        if let decoded = try? ContainerHeader(decoding: other), decoded.key.binding.file == header.key.binding.file,
            try decoded.state(with: cipher) != nil
        {
            // A file keeps its layout.
            let isEarlier = decoded.sequence < header.sequence && decoded.layout == header.layout
            self = isEarlier ? .earlier : .unexplained
            return
        }
        self = Self.hasCopiedSeal(other, of: header) ? .damagedCopy : .unexplained
    }

    /// Whether a part of the sealed state is the same in both: another state has another random nonce, so
    /// that nothing of its seal is equal.
    private static func hasCopiedSeal(_ other: ArraySlice<UInt8>, of header: ContainerHeader) -> Bool {
        var run = 0
        let theirs = other.dropFirst(header.authenticated.count)
        for (mine, theirs) in zip(header.seal.bytes + header.sealedState, theirs) {
            run = mine == theirs ? run + 1 : 0
            if run == minCopiedLength { return true }
        }
        return false
    }

    private static let minCopiedLength = 16
}

extension ArraySlice<UInt8> {
    /// Whether both have the same bytes. Headers are long: comparing memory is faster than collections.
    func hasBytes(of other: ArraySlice<UInt8>) -> Bool {
        count == other.count
            && withUnsafeBytes { one in
                other.withUnsafeBytes { other in
                    guard let start = one.baseAddress, let otherStart = other.baseAddress else { return one.isEmpty }
                    return memcmp(start, otherStart, one.count) == 0
                }
            }
    }
}
