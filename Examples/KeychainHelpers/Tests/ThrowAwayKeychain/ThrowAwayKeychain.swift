// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Gives this process a keychain of its own, in memory. To be called before the first call of the keychain; every call after the first does
/// nothing.
///
/// All tests of the process share it, so each test uses a service or a server of its own.
public func useThrowAwayKeychain() {
    precondition(isThrowAway, "the environment cannot be set, and the tests would work on your own keychain")
}

private let isThrowAway = setenv("LATCHKEY_EPHEMERAL", "1", 1) == 0
