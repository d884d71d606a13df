// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The header of a file that counts: the newest one whose state opens.
struct FoundHeader {
    /// Both headers.
    let bytes: [UInt8]
    let header: ContainerHeader
    let state: ContainerState

    var map: ChunkMap { ChunkMap(root: state.root, depth: state.depth, file: header.key.binding.file) }

    init(bytes: [UInt8], header: ContainerHeader, state: ContainerState) {
        self.bytes = bytes
        self.header = header
        self.state = state
    }

    /// Chooses between both headers: an interrupted change leaves one of them as it was, or incomplete.
    ///
    /// - Parameter cipher: returns the cipher for a key that a header names.
    init(
        _ bytes: [UInt8], cipher: (FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher
    ) throws(FileProtectionError) {
        var problem = FileProtectionError.damaged("its header is not what was written")
        for header in try Self.candidates(bytes) {
            do throws(FileProtectionError) {
                guard let state = try header.state(with: try cipher(header.key)) else { continue }
                self.init(bytes: bytes, header: header, state: state)
                return
            } catch {
                // A closed class is reported, and never answered with the older header.
                guard case .wrongKey = error else { throw error }
                problem = error
            }
        }
        throw problem
    }

    /// Returns the headers that can be decoded, the newest first; at least one.
    static func candidates(_ bytes: [UInt8]) throws(FileProtectionError) -> [ContainerHeader] {
        var headers: [ContainerHeader] = []
        var problem: FileProtectionError?
        let middle = min(ContainerFormat.headerLength, bytes.count)
        for part in [bytes[..<middle], bytes[middle...]] {
            do throws(FileProtectionError) {
                headers.append(try ContainerHeader(decoding: part))
            } catch {
                if problem == nil || problem == .notProtected { problem = error }
            }
        }
        guard headers.isEmpty else { return headers.sorted { $0.sequence > $1.sequence } }
        throw problem ?? .notProtected
    }
}
