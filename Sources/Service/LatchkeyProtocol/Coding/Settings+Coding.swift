// SPDX-License-Identifier: Apache-2.0

package import KeychainModel

extension WireSettings {
    package init(_ settings: KeybagSettings) {
        self.init()
        graceSeconds = UInt32(settings.graceSeconds)
        lockInterval = settings.lockInterval
        locksOnSleep = settings.locksOnSleep
        wipesAfterTen = settings.wipesAfterTen
        allowsSoftwareEnclave = settings.allowsSoftwareEnclave
        isTiedToLogin = settings.isTiedToLogin
    }

    package func decode() throws(WireError) -> KeybagSettings {
        try requireKnown(self)
        return KeybagSettings(
            graceSeconds: try number(graceSeconds, "the grace period"), lockInterval: lockInterval,
            locksOnSleep: locksOnSleep, wipesAfterTen: wipesAfterTen,
            allowsSoftwareEnclave: allowsSoftwareEnclave, isTiedToLogin: isTiedToLogin)
    }
}
