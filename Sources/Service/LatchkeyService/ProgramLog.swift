// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import Logging
internal import Synchronization

/// Warnings for the developers of the calling program: swift-log's logger `latchkey` gets each one once a process.
///
/// Used by the faces, in the process of the program: what the daemon logs, its clients do not see.
public final class ProgramLog: Sendable {
    /// What is worth a warning.
    public enum Warning: Hashable, Sendable {
        /// An RSA key of less than 2048 bits was made.
        case weakKey(KeyKind)
        /// An access control with constraints was given; items with one are refused.
        case constraintsRefused
        /// Match keys in an update or a delete have no effect, so that it reaches more items than the caller may expect.
        case matchKeysIgnored
        /// An option of an import is not known and has no effect. Its value is not told: it may be a secret.
        case importOptionIgnored(String)
    }

    /// The log of this process; in tests, one of their own.
    @TaskLocal public static var current = ProgramLog()

    private let sink: @Sendable (String) -> Void
    private let given = Mutex<Set<Warning>>([])

    /// - Parameter sink: receives the text of each warning.
    public init(sink: @escaping @Sendable (String) -> Void) {
        self.sink = sink
    }

    private convenience init() {
        // Made when it is needed: the program may choose its log handler late.
        self.init { Logger(label: "latchkey").warning("\($0)") }
    }

    /// Logs the warning, unless this log had it before.
    public func warn(_ warning: Warning) {
        guard given.withLock({ $0.insert(warning).inserted }) else { return }
        sink(warning.text)
    }
}

extension ProgramLog.Warning {
    var text: String {
        switch self {
        case .weakKey(let kind):
            "the key \(kind) is weak: RSA keys should have at least 2048 bits"
        case .constraintsRefused:
            """
            access control with constraints (presence, biometry, passcode) is not enforced by this version: items and keys with it are refused \
            with errSecNotAvailable; use kSecAttrAccessible, or an access control without such flags
            """
        case .matchKeysIgnored:
            "kSecMatch keys have no effect in SecItemUpdate and SecItemDelete, as on macOS: every item that the attributes match is concerned"
        case .importOptionIgnored(let name):
            "SecPKCS12Import does not know the option \(name): it has no effect"
        }
    }
}
