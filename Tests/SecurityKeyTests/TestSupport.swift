// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import SecretMemory
import SecurityKey

func pin(_ text: String) throws -> SecurityKeyPIN {
    try SecurityKeyPIN(SharedSecret(copying: text.utf8))
}

extension SecurityKey {
    /// The secret of the credential, in a form that can be compared.
    func secret(
        from credential: SecurityKeyCredential, pin: SecurityKeyPIN? = nil, timeout: Duration = .seconds(60),
        cancellation: SecurityKeyCancellation? = nil
    ) throws -> SharedSecret {
        SharedSecret(try deriveSecret(from: credential, pin: pin, timeout: timeout, cancellation: cancellation))
    }
}
