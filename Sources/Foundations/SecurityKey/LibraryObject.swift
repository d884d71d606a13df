// SPDX-License-Identifier: Apache-2.0

internal import CFido2

/// An object of libfido2, freed with this owner. libfido2 wipes the secrets in it.
struct LibraryObject: ~Copyable {
    let pointer: OpaquePointer
    private let free: (UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// - Throws: ``SecurityKeyError/outOfMemory`` if libfido2 could not create the object.
    init(
        _ pointer: OpaquePointer?, freedBy free: @escaping (UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws(SecurityKeyError) {
        guard let pointer else { throw .outOfMemory }
        self.pointer = pointer
        self.free = free
    }

    deinit {
        var freed: OpaquePointer? = pointer
        free(&freed)
    }

    /// Checks that fields of the object were set. Setting them fails only without memory.
    static func requireSet(_ statuses: Int32...) throws(SecurityKeyError) {
        guard statuses.allSatisfy({ $0 == FIDO_OK }) else { throw .outOfMemory }
    }
}
