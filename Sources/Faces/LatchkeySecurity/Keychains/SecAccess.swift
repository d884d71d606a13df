// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
internal import LatchkeyClient

/// The programs that macOS lets use an item without asking: the value of `kSecAttrAccess`. It is kept with the item and
/// shown, and has no effect here: access groups separate programs.
public final class SecAccess: NSObject, Sendable {
    private let descriptor: String
    private let programs: Programs
    /// The partitions that `security set-key-partition-list` has set.
    private let partitions: [String]

    /// The trusted programs.
    private enum Programs: Hashable, Sendable {
        case unspecified
        case any
        case listed([SecTrustedApplication])
    }

    /// Creates a list of programs; an empty one for no program.
    init(_ descriptor: String, _ applications: [SecTrustedApplication]) {
        self.descriptor = descriptor
        programs = .listed(applications)
        partitions = []
        super.init()
    }

    /// Creates the object of an item's access list.
    init(_ list: AccessList) {
        descriptor = list.name
        programs =
            switch list.programs {
            case .unspecified: .unspecified
            case .any: .any
            case .listed(let paths): .listed(paths.map { SecTrustedApplication($0) })
            }
        partitions = list.partitions
        super.init()
    }

    /// Whether the other object has the same name, the same programs and the same partitions.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccess else { return false }
        return descriptor == other.descriptor && programs == other.programs && partitions == other.partitions
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { descriptor.hashValue }

    /// The name, the programs and the partitions, such as `<SecAccess: token, for /usr/bin/build>`.
    public override var description: String {
        let suffix = partitions.isEmpty ? "" : ", in \(partitions.joined(separator: ", "))"
        return "<SecAccess: \(descriptor), for \(programsText)\(suffix)>"
    }

    private var programsText: String {
        switch programs {
        case .unspecified: "the program that created it"
        case .any: "every program"
        case .listed(let programs):
            programs.isEmpty ? "every program that is confirmed" : programs.map(\.path).joined(separator: ", ")
        }
    }

    /// The list that an item stores.
    ///
    /// - Throws: errSecParam for a list that is too long.
    func accessList() throws(KeychainError) -> AccessList {
        let stored: AccessList.Programs =
            switch programs {
            case .unspecified: .unspecified
            case .any: .any
            case .listed(let programs): .listed(programs.map(\.path))
            }
        return try AccessList(name: descriptor, programs: stored, partitions: partitions)
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

/// Creates the list of the programs that macOS lets use an item, for `kSecAttrAccess`. It is kept and
/// shown, and has no effect here.
///
/// - Parameters:
///   - descriptor: the name of the item.
///   - trustedlist: an array of `SecTrustedApplication`; nil for this program, empty for none.
///   - accessRef: receives the list.
/// - Returns: errSecParam if an element is something else.
@available(*, deprecated, message: "use kSecAttrAccessGroup to separate programs")
@discardableResult
public func SecAccessCreate(
    _ descriptor: CFString, _ trustedlist: CFArray?, _ accessRef: UnsafeMutablePointer<SecAccess?>
) -> OSStatus {
    var applications = [SecTrustedApplication(KeychainClient.caller.executable)]
    if let trustedlist {
        guard let given = trustedlist as? [SecTrustedApplication] else { return errSecParam }
        applications = given
    }
    accessRef.pointee = SecAccess(descriptor as String, applications)
    return errSecSuccess
}
