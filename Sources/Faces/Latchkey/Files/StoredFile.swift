// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// A file in the keychain. Reading stops with `KeychainError.interactionNotAllowed` when its class
/// closes. The calls block.
public struct StoredFile: Sendable {
    private let query: ItemQuery
    private let open: @Sendable () throws(KeychainError) -> KeychainSession
    private let version: [UInt8]
    /// The length of the content, in bytes.
    public let length: UInt64

    /// Returns at most `count` bytes of the content at `offset`; fewer only at its end.
    ///
    /// - Throws: errSecNotAvailable if another content was stored meanwhile.
    public func read(at offset: UInt64, count: Int) throws(KeychainError) -> Data {
        // EXPOSE: the caller asked for the content as Data.
        var data = Data(capacity: Int(min(UInt64(max(0, count)), length > offset ? length - offset : 0)))
        while data.count < count {
            let size = min(count - data.count, StoredFilePart.maxLength)
            let part = try open().readStoredFile(
                query, at: offset + UInt64(data.count), count: size, version: version)
            guard part.content.count > 0 else { break }
            part.content.withUnsafeBytes { data.append(contentsOf: $0) }
        }
        return data
    }

    /// Returns the whole content.
    public func contents() throws(KeychainError) -> Data {
        guard length <= UInt64(Int.max) else {
            throw KeychainError(.dataTooLarge, "the file is too large to be read as a whole")
        }
        return try read(at: 0, count: Int(length))
    }

    init(
        _ query: ItemQuery, _ open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) throws(KeychainError) {
        (self.query, self.open) = (query, open)
        let start = try open().readStoredFile(query, at: 0, count: 0, version: nil)
        (version, length) = (start.version, start.length)
    }

    /// The content in parts of 256 KiB, for tasks.
    public var chunks: AsyncThrowingStream<Data, any Error> {
        let position = SentPosition()
        return AsyncThrowingStream {
            let start = position.value
            let part = try await KeychainClient.perform { () throws(KeychainError) in
                try read(at: start, count: StoredFilePart.maxLength)
            }
            position.advance(by: part.count)
            return part.isEmpty ? nil : part
        }
    }
}

/// How much of a file a stream has sent. One task at a time reads a stream.
private final class SentPosition: Sendable {
    private let sent = SystemMutex<UInt64>(0)

    var value: UInt64 { sent.withLock { $0 } }

    func advance(by count: Int) { sent.withLock { $0 += UInt64(count) } }
}
