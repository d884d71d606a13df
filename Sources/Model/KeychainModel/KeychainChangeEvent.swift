// SPDX-License-Identifier: Apache-2.0

/// An event that an observer of a keychain receives.
public enum KeychainChangeEvent: Sendable, Hashable {
    /// Items, the passcode or the settings may have changed since the last event. Several changes
    /// can be one event.
    case changed
    /// There are no further events: the keychain was closed, or its directory was renamed.
    case ended
}
