// SPDX-License-Identifier: Apache-2.0

/// What a device requires from the user before it derives a secret. The numbers are stored.
public enum UserVerification: UInt8, Sendable, CaseIterable {
    /// A touch: the user is present.
    case touch = 0
    /// A touch and the PIN of the device.
    case pin = 1
}
