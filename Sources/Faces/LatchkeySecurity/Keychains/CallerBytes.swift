// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A pointer and a length that a caller passes, checked before they are used.
struct CallerBytes {
    private let buffer: UnsafeRawBufferPointer

    /// No length that a keychain could store.
    private static let maxLength: UInt32 = 64 << 20

    /// - Throws: errSecParam for a length without a pointer; errSecDataTooLarge.
    init(_ start: UnsafeRawPointer?, _ length: UInt32) throws(KeychainError) {
        guard start != nil || length == 0 else { throw .parameter("a length of \(length) has no bytes") }
        guard length <= Self.maxLength else { throw KeychainError(.dataTooLarge) }
        buffer = UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    var isEmpty: Bool { buffer.isEmpty }
    var count: Int { buffer.count }

    /// A copy in secret memory.
    var secret: SharedSecret { SharedSecret(SecretBytes(copying: buffer)) }

    /// A copy in ordinary memory, for data that is not secret.
    var bytes: [UInt8] { Array(buffer) }

    /// - Throws: errSecParam for text that is not UTF-8.
    func text() throws(KeychainError) -> String {
        guard let text = String(validating: buffer, as: UTF8.self) else {
            throw .parameter("text must be UTF-8")
        }
        return text
    }

    /// An integer of one, two or four bytes in the machine's order.
    ///
    /// - Throws: errSecParam for another length.
    func number() throws(KeychainError) -> UInt32 {
        switch buffer.count {
        case 1: return UInt32(buffer.loadUnaligned(as: UInt8.self))
        case 2: return UInt32(buffer.loadUnaligned(as: UInt16.self))
        case 4: return buffer.loadUnaligned(as: UInt32.self)
        default: throw .parameter("a number must have 1, 2 or 4 bytes")
        }
    }
}

/// The memory that the functions have given to callers, until it is freed. Their sizes are known
/// here, so that secrets are wiped as a whole, and that a pointer from elsewhere is refused.
enum GivenMemory {
    private static let sizes = SystemMutex<[UInt: Int]>([:])

    /// Allocates memory for a caller.
    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        // 16 bytes are malloc's alignment: also a caller that calls free(3) does no harm.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        if let start = memory.baseAddress { sizes.withLock { $0[UInt(bitPattern: start)] = memory.count } }
        return memory
    }

    /// Copies bytes for a caller.
    static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
        let memory = allocate(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: memory.prefix(bytes.count)).copyMemory(from: bytes)
        return memory.baseAddress
    }

    static func contains(_ start: UnsafeMutableRawPointer) -> Bool {
        sizes.withLock { $0[UInt(bitPattern: start)] != nil }
    }

    /// Wipes and frees memory; nil does nothing.
    ///
    /// - Throws: errSecParam for memory that is not from ``allocate(_:)``, or is freed already.
    static func free(_ start: UnsafeMutableRawPointer?) throws(KeychainError) {
        guard let start else { return }
        guard let count = sizes.withLock({ $0.removeValue(forKey: UInt(bitPattern: start)) }) else {
            throw .parameter("this memory is not from a call of the keychain")
        }
        SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: start, count: count))
        start.deallocate()
    }
}
