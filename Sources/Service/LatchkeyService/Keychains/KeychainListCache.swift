// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

/// A user's search list, read again only after its file has changed.
public final class KeychainListCache: Sendable {
    public let keychains: UserKeychains
    private let read = SystemMutex<StampedValue<Result<KeychainList, KeychainError>>?>(nil)

    public init(_ keychains: UserKeychains) { self.keychains = keychains }

    /// - Throws: errSecNotAvailable for a list that is not readable as a whole.
    public func list() throws(KeychainError) -> KeychainList {
        let outcome = read.withLock { read in
            if let read, read.isCurrent { return read.value }
            let fresh = StampedValue(readFrom: [keychains.listPath]) { [keychains] in
                Result { () throws(KeychainError) in try keychains.list() }
            }
            read = fresh
            return fresh.value
        }
        return try outcome.get()
    }
}
