// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Gives this process a separate keychain in memory. It must be called before the first call of the
/// keychain; later calls do nothing.
///
/// All tests of the process share the keychain, so each test uses its own service or server.
public func useThrowAwayKeychain() {
    precondition(isThrowAway, "LATCHKEY_EPHEMERAL could not be set; the tests would use your own keychain")
}

private let isThrowAway = setenv("LATCHKEY_EPHEMERAL", "1", 1) == 0
