// SPDX-License-Identifier: Apache-2.0

/// The verification of the user that a device requires before it derives a secret.
public enum UserVerification: Sendable, CaseIterable {
    /// A touch: the user is present.
    case touch
    /// A touch and the PIN of the device.
    case pin
}
