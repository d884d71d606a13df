// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

extension ProtectionClass {
    /// Returns the class with this code; nil for nil.
    ///
    /// - Throws: errSecParam for an unknown code.
    static func named(_ code: String?) throws(CommandFailure) -> ProtectionClass? {
        guard let code else { return nil }
        guard let known = ProtectionClass(rawValue: code) else {
            throw .parameter("unknown protection class '\(code)'", hint: "ak, ck, dk, aku, cku, dku or akpu")
        }
        return known
    }

    /// Warns of a class that protects less than its name says: its items open while the keychain is
    /// locked.
    func warnIfAlwaysOpen(in session: CommandSession) {
        guard isAlwaysOpen, !session.isQuiet else { return }
        session.io.say(
            """
            \(session.program.rawValue): items of the class \(rawValue) (\(constant)) open without the passcode: \
            only the device key protects them
            hint: ak opens them only while the keychain is unlocked

            """)
    }
}
