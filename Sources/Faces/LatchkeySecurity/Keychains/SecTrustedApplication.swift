// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
internal import LatchkeyClient

/// A program in a ``SecAccess``: its path. It is kept with the item and shown, and has no effect here.
public final class SecTrustedApplication: NSObject, Sendable {
    let path: String

    init(_ path: String) {
        self.path = path
        super.init()
    }

    /// Whether the other object has the same path.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecTrustedApplication)?.path == path
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { path.hashValue }

    /// The path, such as `<SecTrustedApplication: /usr/bin/build>`.
    public override var description: String { "<SecTrustedApplication: \(path)>" }
}

extension SecTrustedApplication: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.trustedApplication.rawValue }
}

/// Returns the type identifier of `SecTrustedApplication`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecTrustedApplicationGetTypeID() -> CFTypeID {
    SecTrustedApplication.typeID
}

/// Returns the program at a path, without opening it.
///
/// - Parameters:
///   - path: the path; nil for this program.
///   - app: receives the program.
/// - Returns: errSecParam for a path that is not UTF-8.
@available(*, deprecated, message: "use kSecAttrAccessGroup to separate programs")
@discardableResult
public func SecTrustedApplicationCreateFromPath(
    _ path: UnsafePointer<CChar>?, _ app: UnsafeMutablePointer<SecTrustedApplication?>
) -> OSStatus {
    guard let path else {
        app.pointee = SecTrustedApplication(KeychainClient.caller.executable)
        return errSecSuccess
    }
    guard let text = String(validatingCString: path) else { return errSecParam }
    app.pointee = SecTrustedApplication(text)
    return errSecSuccess
}

/// Copies the path of a program, with a zero byte at the end.
@available(*, deprecated, message: "use kSecAttrAccessGroup to separate programs")
@discardableResult
public func SecTrustedApplicationCopyData(_ appRef: SecTrustedApplication, _ data: UnsafeMutablePointer<CFData?>)
    -> OSStatus
{
    data.pointee = NSData(copying: Array(appRef.path.utf8) + [0])
    return errSecSuccess
}
