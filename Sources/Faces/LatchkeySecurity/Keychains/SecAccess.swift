// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Which programs macOS lets read an item without asking. It is kept and shown, and has no effect
/// here: access groups separate programs.
public final class SecAccess: NSObject, Sendable {
    private let descriptor: String
    private let applications: [SecTrustedApplication]?

    init(_ descriptor: String, _ applications: [SecTrustedApplication]?) {
        self.descriptor = descriptor
        self.applications = applications
        super.init()
    }

    /// Whether the other object has the same name and the same programs.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccess else { return false }
        return descriptor == other.descriptor && applications == other.applications
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { descriptor.hashValue }

    /// The name and the programs, such as `<SecAccess: token, for /usr/bin/build>`.
    public override var description: String {
        let programs = applications.map { $0.map(\.path).joined(separator: ", ") } ?? "this program"
        return "<SecAccess: \(descriptor), for \(programs.isEmpty ? "every program that is confirmed" : programs)>"
    }
}

extension SecAccess: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.access.rawValue }
}

/// Returns the type identifier of `SecAccess`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecAccessGetTypeID() -> CFTypeID {
    SecAccess.typeID
}

/// Creates the list of the programs that macOS lets read an item. It has no effect here.
///
/// - Parameters:
///   - descriptor: the name of the item.
///   - trustedlist: an array of `SecTrustedApplication`; nil for this program, empty for none.
///   - accessRef: receives the list.
/// - Returns: errSecParam if an element is something else.
@available(*, deprecated, message: "use kSecAttrAccessGroup, which separates programs")
@discardableResult
public func SecAccessCreate(
    _ descriptor: CFString, _ trustedlist: CFArray?, _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    var applications: [SecTrustedApplication]?
    if let trustedlist {
        guard let given = trustedlist as? [SecTrustedApplication] else { return errSecParam }
        applications = given
    }
    accessRef.pointee = SecAccess(descriptor as String, applications)
    return errSecSuccess
}
