// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem
internal import Logging

/// Warnings for the developers of the calling program, sent to swift-log's logger `latchkey`, each
/// one once per process.
///
/// Public modules use it in the process of the program, because clients do not see the log of the daemon.
public final class ProgramLog: Sendable {
    /// A reason for a warning.
    public enum Warning: Hashable, Sendable {
        /// An RSA key of less than 2048 bits was generated.
        case weakKey(KeyKind)
        /// Match keys in an update or a delete have no effect, so that it affects more items than
        /// the caller may expect.
        case matchKeysIgnored
        /// An option of an import is unknown and has no effect. Its value is not logged, because it
        /// may be a secret.
        case importOptionIgnored(String)
        /// A text that was imported has blocks with unknown labels, or data outside of blocks, or PKCS #12 has
        /// other entries than keys and certificates. They are not named, because the file may be secret.
        case importPartsSkipped
        /// A property of Latchkey's `@KeychainItem` could not be read or stored: it cannot throw.
        case propertyFailed(OSStatusCode, isRead: Bool)
        /// A value was stored in the defaults under a name that is usual for a secret.
        case secretInDefaults
        /// A call of Foundation does not protect, because the program has no LatchkeyRedirections.
        case foundationCall(sentence: String)
        /// The policies of a server's trust object name no server.
        case serverNameNotChecked
        /// A delegate accepted a server with a trust object that it had not evaluated, or that is not trusted.
        case serverAccepted(wasEvaluated: Bool)
        /// `NSAllowsArbitraryLoads` has an effect.
        case arbitraryLoads
    }

    /// The log of this process; tests set their own.
    @TaskLocal public static var current = ProgramLog()

    private let sink: @Sendable (String) -> Void
    private let given = SystemMutex<Set<Warning>>([])

    /// - Parameter sink: receives the text of each warning.
    public init(sink: @escaping @Sendable (String) -> Void) {
        self.sink = sink
    }

    private convenience init() {
        // Create the logger late: the program may choose its log handler after start.
        self.init { Logger(label: "latchkey").warning("\($0)") }
    }

    /// Logs the warning, unless it was logged before.
    public func warn(_ warning: Warning) {
        guard given.withLock({ $0.insert(warning).inserted }) else { return }
        sink(warning.text)
    }
}

/// Called by CFoundationCalls, once a process, about a call that is not redirected.
///
/// - Parameter sentence: as the linker prints it.
@_cdecl("latchkey_log_foundation_call")
package func logFoundationCall(_ sentence: UnsafePointer<CChar>) {
    ProgramLog.current.warn(.foundationCall(sentence: String(cString: sentence)))
}

extension ProgramLog.Warning {
    var text: String {
        switch self {
        case .weakKey(let kind):
            "the key \(kind) is weak: RSA keys should have at least 2048 bits"
        case .matchKeysIgnored:
            "kSecMatch keys have no effect in SecItemUpdate and SecItemDelete, as on macOS: every item that the attributes match is affected"
        case .importOptionIgnored(let name):
            "SecPKCS12Import ignores the unknown option \(name)"
        case .importPartsSkipped:
            "an import skips PEM blocks with unknown labels, base64 or binary data outside of blocks, and entries of PKCS #12 that are no keys and certificates"
        case .secretInDefaults:
            "UserDefaults.standard got a value with a name such as password or token: every program of the user can read the defaults; store it in the keychain"
        case .foundationCall(let sentence):
            sentence
        case .serverNameNotChecked:
            "the trust of a server is evaluated without its name, and the certificate of any server passes: use SecPolicyCreateSSL(true, host), not SecPolicyCreateBasicX509()"
        case .serverAccepted(wasEvaluated: false):
            "a delegate answers .useCredential for a server without an evaluation: call SecTrustEvaluateWithError first, or answer .performDefaultHandling"
        case .serverAccepted(wasEvaluated: true):
            "a delegate answers .useCredential for a server that is not trusted: others can read the connection"
        case .arbitraryLoads:
            "NSAllowsArbitraryLoads in Info.plist permits loads without TLS from every host, and is for development only: `latchkey ats lint Info.plist` shows what to use"
        case .propertyFailed(let status, isRead: true):
            "a @KeychainItem property is nil because the item could not be read: \(status); read() of the projected value throws the error"
        case .propertyFailed(let status, isRead: false):
            "an assignment to a @KeychainItem property was not stored: \(status); write(_:) of the projected value throws the error"
        }
    }
}
