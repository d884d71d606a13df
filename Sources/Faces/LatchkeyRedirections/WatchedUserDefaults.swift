// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import LatchkeyService

extension UserDefaults {
    /// `UserDefaults.standard`.
    @_silgen_name("__wrap_$s10Foundation12UserDefaultsC8standardACvgZ")
    package class func redirectedStandard() -> UserDefaults { WatchedUserDefaults.instance }
}

/// Foundation's standard defaults, with a warning for secrets: every program of the user reads the file of the defaults.
final class WatchedUserDefaults: UserDefaults {
    // Unsafe because Foundation's class is not Sendable. Its standard defaults are one object for all threads as well.
    nonisolated(unsafe) static let instance = WatchedUserDefaults()

    override func set(_ value: Any?, forKey defaultName: String) {
        // The name is not logged, because it may be a secret.
        if value != nil, SecretName.isLikely(defaultName) { ProgramLog.current.warn(.secretInDefaults) }
        super.set(value, forKey: defaultName)
    }
}

/// A name that is usual for a secret.
enum SecretName {
    private static let parts = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey", "credential",
    ]

    static func isLikely(_ name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        return parts.contains { letters.contains($0) }
    }
}
