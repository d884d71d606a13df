// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// An event descriptor (eventfd(2)): with it, one thread wakes others that wait in poll(2).
struct EventDescriptor: ~Copyable, Sendable {
    private let owned: OwnedDescriptor

    init() throws(SystemError) {
        let descriptor = latchkey_event()
        guard descriptor >= 0 else { throw .last("create an event descriptor") }
        owned = OwnedDescriptor(adopting: descriptor)
    }

    func raise() {
        var one: UInt64 = 1
        _ = write(owned.rawValue, &one, 8)
    }

    /// Lowers a descriptor that is raised. It would block otherwise.
    func lower() {
        var count: UInt64 = 0
        _ = read(owned.rawValue, &count, 8)
    }

    /// The entry for poll(2) to wait until the descriptor is raised.
    var entry: pollfd { pollfd(fd: owned.rawValue, events: Int16(POLLIN), revents: 0) }
}
