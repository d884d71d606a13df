// SPDX-License-Identifier: Apache-2.0

/// What a device requires from the user before it derives a secret.
public enum UserVerification: Sendable, CaseIterable {
    /// A touch: the user is present.
    case touch
    /// A touch and the PIN of the device.
    case pin
}
