// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The header of a file that counts: the newest one whose state opens.
struct FoundHeader {
    /// Both headers.
    let bytes: [UInt8]
    /// Which of the two it is: 0 or 1.
    let index: Int
    let header: ContainerHeader
    let cipher: any ContainerCipher
    let state: ContainerState

    var map: ChunkMap { ChunkMap(root: state.root, depth: state.depth, file: header.key.binding.file) }

    /// The headers of a new file, which are equal.
    init(
        new header: ContainerHeader, _ state: ContainerState, _ cipher: any ContainerCipher
    ) {
        (self.header, self.state, self.cipher) = (header, state, cipher)
        bytes = header.encoded + header.encoded
        index = 0
    }

    /// Chooses between both headers: an interrupted change leaves one of them as it was, or incomplete.
    ///
    /// - Parameter cipher: returns the cipher for a key that a header names.
    init(
        _ bytes: [UInt8], cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        var problem = FileProtectionError.damaged("its header is not what was written")
        var known: [FileKeyRecord: any ContainerCipher] = [:]
        for (index, header) in try Self.candidates(bytes) {
            do throws(FileProtectionError) {
                let opened: any ContainerCipher
                if let same = known[header.key] { opened = same } else { opened = try cipher(header.key) }
                known[header.key] = opened
                guard let state = try header.state(with: opened) else { continue }
                (self.bytes, self.index, self.header, self.cipher, self.state) = (bytes, index, header, opened, state)
                return
            } catch {
                // A closed class is reported, and never answered with the older header.
                guard case .wrongKey = error else { throw error }
                problem = error
            }
        }
        throw problem
    }

    /// Returns the headers that can be decoded, with their indices, the newest first; at least one.
    ///
    /// - Throws: ``FileProtectionError/unsupportedVersion(_:)`` if one of them has a newer version: the
    ///   other one is then an older state.
    static func candidates(_ bytes: [UInt8]) throws(FileProtectionError) -> [(index: Int, header: ContainerHeader)] {
        var headers: [(index: Int, header: ContainerHeader)] = []
        var problem: FileProtectionError?
        let middle = min(ContainerFormat.headerLength, bytes.count)
        for (index, part) in [bytes[..<middle], bytes[middle...]].enumerated() {
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
}
