// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// A file descriptor that is sent or was received; closed with the last reference.
public final class BusDescriptor: Sendable {
    private let owned: OwnedDescriptor

    public init(_ owned: consuming OwnedDescriptor) { self.owned = owned }

    /// The number, for use in a system call while this object is kept; never close it.
    public var rawValue: Int32 { owned.rawValue }

    /// A close-on-exec copy of a descriptor that belongs to other code.
    init(copying rawValue: Int32) throws(BusError) {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(.last("copy a descriptor")) }
        owned = OwnedDescriptor(adopting: copy)
    }
}

// MARK: Equatable

extension BusDescriptor: Equatable {
    public static func == (one: BusDescriptor, other: BusDescriptor) -> Bool { one === other }
}
