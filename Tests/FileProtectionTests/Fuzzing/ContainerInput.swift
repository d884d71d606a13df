// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import KeychainModel
import SecretMemory
import Synchronization

/// A protected file from an untrusted source, or a part of one. The first byte selects its kind. The fuzzer and the
/// test that replays its corpus share it.
enum ContainerInput {
    /// The kind of an input, by its first byte.
    enum Kind: UInt8, CaseIterable {
        /// The input of a decoder.
        case record, header, state, references
        /// A whole file; changes of a valid one; a file of one who has the key.
        case file, changes, sealed
        /// Changes of a valid file of the newest format; those above are of format 1.
        case newestChanges
    }

    /// Reads the input.
    ///
    /// - Returns: whether it was accepted, and the fault of an accepted input; nil for none.
    static func read(_ bytes: [UInt8]) -> (isAccepted: Bool, fault: String?) {
        guard let kind = bytes.first.flatMap(Kind.init) else { return (false, nil) }
        let rest = Array(bytes.dropFirst())
        switch kind {
        case .record: return form(rest, FileKeyRecord(decoding: rest), \.encoded)
        case .header:
            let length = ContainerFormat.headerLength
            let padded = Array((rest + [UInt8](repeating: 0, count: length)).prefix(length))
            return form(padded, try? ContainerHeader(decoding: padded[...]), \.encoded)
        case .state: return form(rest, ContainerState(decoding: rest, .first), \.encoded)
        case .references: return form(rest, ChunkReference.decode(rest), ChunkReference.encode)
        case .file: return (use(MemoryFile(rest)) != nil, nil)
        case .changes: return changed(valid, rest)
        case .sealed: return (use(MemoryFile(sealed(rest))) != nil, nil)
        case .newestChanges: return changed(newest, rest)
        }
    }

    /// Checks that a decoded value has one encoding.
    private static func form<Value>(
        _ bytes: [UInt8], _ value: Value?, _ encode: (Value) -> [UInt8]
    ) -> (Bool, String?) {
        guard let value else { return (false, nil) }
        return (true, encode(value) == bytes ? nil : "\(Value.self) has two encodings")
    }

    /// Opens a file, reads its ends, changes it and stores it.
    ///
    /// - Returns: the content, at most its first 256 KiB; nil if the file was refused.
    private static func use(_ file: MemoryFile) -> [UInt8]? {
        guard let container = try? ProtectedContainer(opening: file, isWritable: true, cipher: { _ in cipher }),
            let length = try? container.length, let content = content(of: container, at: 0)
        else { return nil }
        _ = content.count
        if length > UInt64(content.count) { _ = self.content(of: container, at: length - 1000) }
        _ = try? container.nextData(from: length / 2)
        // A failed change, too, must leave the file readable, or refused.
        _ = try? [UInt8](repeating: 7, count: 100).withUnsafeBytes { try container.write($0, at: length / 3) }
        _ = try? container.truncate(to: length / 2)
        _ = try? container.commit()
        return content
    }

    private static func content(of container: ProtectedContainer, at offset: UInt64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4 * ContainerFormat.maxChunkSize)
        guard let got = try? bytes.withUnsafeMutableBytes({ try container.read(into: $0, at: offset) }) else {
            return nil
        }
        return Array(bytes.prefix(got))
    }

    // MARK: Changes of a valid file

    /// Changes bytes of a valid file: each change is a position of three bytes and a value. The file must
    /// be refused, or have its content.
    private static func changed(_ valid: [UInt8], _ changes: [UInt8]) -> (Bool, String?) {
        var bytes = valid
        for start in stride(from: 0, to: changes.count - 3, by: 4) {
            let position = changes[start..<start + 3].reduce(0) { $0 << 8 | Int($1) }
            bytes[position % bytes.count] = changes[start + 3]
        }
        guard let found = use(MemoryFile(bytes)) else { return (false, nil) }
        return (true, found == content ? nil : "a changed file has another content")
    }

    /// Two chunks of format 1 and a part.
    private static let content = (0..<140_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private static let valid = file(.first)
    private static let newest = file(.latest)

    private static func file(_ layout: ContainerLayout) -> [UInt8] {
        let file = MemoryFile([])
        guard let record, let container = try? ProtectedContainer(creating: file, record, cipher, layout: layout) else {
            return [0]
        }
        _ = try? content.withUnsafeBytes { try container.write($0, at: 0) }
        _ = try? container.commit()
        return file.bytes
    }

    // MARK: A file of one who has the key

    /// Returns a file with two equal headers that seal the first 64 bytes, and with the rest in its slots.
    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        let state = Array(bytes.prefix(64))
        guard let record else { return [] }
        let authenticated = ContainerHeader.authenticated(.first, 1, record, stateLength: state.count)
        var sealedState = [UInt8](repeating: 0, count: state.count)
        let seal = try? state.withUnsafeBytes { plain in
            try sealedState.withUnsafeMutableBytes { try cipher.seal(plain, authenticating: authenticated, into: $0) }
        }
        guard let seal else { return [] }
        let head = authenticated + seal.bytes + sealedState
        let header = head + [UInt8](repeating: 0, count: ContainerFormat.headerLength - head.count)
        return header + header + bytes.dropFirst(64)
    }

    private static let cipher = FileKeyCipher(FixedKey())

    private static let record: FileKeyRecord? = FileKeyRecord.Binding(
        keychain: Array(0..<16), protection: .complete, generation: 1, file: [UInt8](repeating: 7, count: 16),
        group: AccessGroup("g", grade: .claimed)
    ).flatMap { FileKeyRecord($0, ephemeralKey: [], wrappedKey: [UInt8](repeating: 5, count: 40)) }

    private struct FixedKey: FileKeySource {
        func key() -> SharedSecret { SharedSecret(copying: [UInt8](repeating: 3, count: 32)) }
    }
}

/// A file in memory.
private final class MemoryFile: ContainerFile {
    private let content: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { content = Mutex(bytes) }

    var bytes: [UInt8] { content.withLock { $0 } }
    var size: UInt64 { UInt64(bytes.count) }

    func lock() {}
    func unlock() {}
    func synchronize(withAttributes: Bool) {}

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        content.withLock { bytes in
            guard offset < UInt64(bytes.count) else { return 0 }
            let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    func write(_ part: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        // A disk of 16 MiB.
        guard offset <= 16 << 20, part.count <= 1 << 20 else { throw .tooLarge }
        content.withLock { bytes in
            let end = Int(offset) + part.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(Int(offset)..<end, with: part)
        }
    }

    func cut(to length: UInt64) {
        content.withLock { if UInt64($0.count) > length { $0.removeLast($0.count - Int(length)) } }
    }
}
