// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The files of items, for a backup that includes them. Their content is encrypted with keys that
/// are in the items.
public struct BackupFileSource {
    /// Returns the next bytes of a file; nil at its end.
    public typealias Reader = () throws(StoreError) -> [UInt8]?

    /// The name of the file of an item, ``nameLength`` bytes; nil for an item without a file.
    let name: (ItemRecord) -> [UInt8]?
    /// Opens a file; returns nil if it does not exist.
    let open: ([UInt8]) throws(StoreError) -> Reader?

    public static let nameLength = 32

    public init(
        name: @escaping (ItemRecord) -> [UInt8]?, open: @escaping ([UInt8]) throws(StoreError) -> Reader?
    ) {
        (self.name, self.open) = (name, open)
    }
}

/// The receiver of the files of a backup that is restored.
public struct BackupFileSink {
    /// Takes a name and the next bytes of the file. The parts of a file follow each other.
    let take: ([UInt8], UnsafeRawBufferPointer) throws(StoreError) -> Void
    /// Makes the files durable.
    let finish: () throws(StoreError) -> Void

    public init(
        take: @escaping ([UInt8], UnsafeRawBufferPointer) throws(StoreError) -> Void,
        finish: @escaping () throws(StoreError) -> Void
    ) {
        (self.take, self.finish) = (take, finish)
    }

    /// Calls `body` after all items, before the first part of a file.
    func afterItems(_ body: @escaping () throws(StoreError) -> Void) -> BackupFileSink {
        var hasBegun = false
        return BackupFileSink(
            take: { (name, bytes) throws(StoreError) in
                if !hasBegun { try body() }
                hasBegun = true
                try take(name, bytes)
            }, finish: finish)
    }
}
