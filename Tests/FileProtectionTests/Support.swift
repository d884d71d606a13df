// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import LinuxSystem
import SecretMemory
import Testing

/// A key that a test can close.
final class TestKey: FileKeySource {
    private let secret: SharedSecret
    private let open = SystemMutex(true)

    init(_ secret: SharedSecret = SharedSecret(.random(count: 32))) { self.secret = secret }

    func key() throws(KeychainError) -> SharedSecret {
        guard open.withLock({ $0 }) else { throw Self.closed }
        return secret
    }

    func setOpen(_ isOpen: Bool) { open.withLock { $0 = isOpen } }

    /// As the keychain reports a closed class: not equal to the error without a hint.
    static let closed = KeychainError(.interactionNotAllowed, hint: "give the passcode")
}

/// A file in memory that records its writes, so that a test can stop them anywhere.
final class RecordedFile: ContainerFile {
    enum Step: Equatable {
        case write([UInt8], UInt64)
        case cut(UInt64)
        case synchronize
    }

    private let state: SystemMutex<(bytes: [UInt8], steps: [Step], room: Int?)>
    private let failing = SystemMutex<Range<UInt64>?>(nil)
    /// Whether synchronizations fail, as those of a device with an error do.
    let failsToSynchronize = SystemMutex(false)

    init(_ bytes: [UInt8] = []) { state = SystemMutex((bytes, [], nil)) }

    /// Lets writes that begin in this range fail, as a device with an error does.
    func fail(_ range: Range<UInt64>?) { failing.withLock { $0 = range } }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var steps: [Step] { state.withLock { $0.steps } }
    func forgetSteps() { state.withLock { $0.steps = [] } }
    func replaceBytes(_ bytes: [UInt8]) { state.withLock { $0.bytes = bytes } }
    /// Lets writes fail from `length` bytes on, as a full disk does.
    func setRoom(_ length: Int?) { state.withLock { $0.room = length } }

    func lock() {}
    func unlock() {}
    var size: UInt64 { UInt64(state.withLock { $0.bytes.count }) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        let bytes = state.withLock { $0.bytes }
        guard offset < bytes.count else { return 0 }
        let part = bytes[Int(offset)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileProtectionError) {
        guard failing.withLock({ $0?.contains(offset) != true }) else { throw .system(SystemError("write", code: 5)) }
        let copy = Array(bytes)
        let hasRoom = state.withLock { state in
            if let room = state.room, Int(offset) + copy.count > room { return false }
            state.steps.append(.write(copy, offset))
            Self.apply(.write(copy, offset), to: &state.bytes)
            return true
        }
        guard hasRoom else { throw .system(SystemError("write", code: 28)) }
    }

    func cut(to length: UInt64) {
        state.withLock { state in
            guard length < state.bytes.count else { return }
            state.steps.append(.cut(length))
            Self.apply(.cut(length), to: &state.bytes)
        }
    }

    func synchronize(withAttributes: Bool) throws(FileProtectionError) {
        guard !failsToSynchronize.withLock({ $0 }) else { throw .system(SystemError("synchronise", code: 5)) }
        state.withLock { $0.steps.append(.synchronize) }
    }

    static func apply(_ step: Step, to bytes: inout [UInt8]) {
        switch step {
        case .write(let content, let offset):
            let end = Int(offset) + content.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(Int(offset)..<end, with: content)
        case .cut(let length): if bytes.count > length { bytes.removeLast(bytes.count - Int(length)) }
        case .synchronize: break
        }
    }
}

extension ProtectedContainer {
    func write(_ bytes: [UInt8], at offset: UInt64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }

    func content() throws -> [UInt8] {
        try content(at: 0, count: Int(try length))
    }

    func content(at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return Array(bytes.prefix(got))
    }
}

enum Sample {
    static func record(_ group: String = "latchkey.shared", file: UInt8 = 7) throws -> FileKeyRecord {
        let binding = try #require(
            FileKeyRecord.Binding(
                keychain: Array(0..<16), protection: .complete, generation: 1,
                file: [UInt8](repeating: file, count: 16), group: AccessGroup(group, grade: .claimed)))
        return try #require(
            FileKeyRecord(binding, ephemeralKey: [], wrappedKey: [UInt8](repeating: 5, count: 40)))
    }

    static func container(
        _ file: RecordedFile, _ key: TestKey, _ layout: ContainerLayout = .latest, metadata: [UInt8] = []
    ) throws -> ProtectedContainer {
        try ProtectedContainer(creating: file, try record(), FileKeyCipher(key), layout: layout, metadata: metadata)
    }

    static func open(_ file: RecordedFile, _ key: TestKey, isWritable: Bool = false) throws -> ProtectedContainer {
        try ProtectedContainer(opening: file, isWritable: isWritable) { _ throws(FileProtectionError) in
            FileKeyCipher(key)
        }
    }

    /// Bytes that differ everywhere, from a seed.
    static func bytes(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}
