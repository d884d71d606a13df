// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Platform configuration registers (PCRs) that a device key is sealed to, and the authorization that opens it when
/// they have other values.
public struct RegisterBinding: Sendable {
    /// The numbers of the registers.
    public let numbers: Set<UInt8>
    /// 32 bytes that are derived from the code.
    public let authorization: SharedSecret

    package init(_ numbers: Set<UInt8>, code: RecoveryKey) {
        self.numbers = numbers
        authorization = Self.authorization(code)
    }

    static func authorization(_ code: RecoveryKey) -> SharedSecret {
        SharedSecret(code.withSecret { KeybagCryptography.derive(from: $0, label: "latchkey v4 register code") })
    }
}
