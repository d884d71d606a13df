// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

extension ProtectionClass {
    /// Returns the class with this name; nil for nil.
    ///
    /// - Throws: errSecParam for an unknown name.
    static func named(_ name: String?) throws(CommandFailure) -> ProtectionClass? {
        guard let name else { return nil }
        guard let known = ProtectionClass(named: name) else {
            throw .parameter("unknown protection class '\(name)'", hint: listedNames)
        }
        return known
    }

    /// Warns of a class that protects less than its name says: its items open while the keychain is
    /// locked.
    func warnIfAlwaysOpen(in session: CommandSession) {
        guard isAlwaysOpen, !session.isQuiet else { return }
        session.io.say(
            """
            \(session.program.rawValue): items of the class \(name) (\(constant)) open without the passcode: \
            only the device key protects them
            hint: \(ProtectionClass.whenUnlocked.name) opens them only while the keychain is unlocked

            """)
    }
}
