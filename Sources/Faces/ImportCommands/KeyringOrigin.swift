// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The program whose items are imported. Both are the same Secret Service; they differ in messages.
enum KeyringOrigin: String, CaseIterable, ExpressibleByArgument, Sendable {
    case gnomeKeyring = "gnome-keyring"
    case kwallet

    /// The name of the program for messages.
    var name: String {
        switch self {
        case .gnomeKeyring: "gnome-keyring"
        case .kwallet: "KWallet"
        }
    }

    /// What to do if Latchkey is the Secret Service of the bus.
    var otherBusHint: String {
        switch self {
        case .gnomeKeyring: "read a file: --file ~/.local/share/keyrings/login.keyring"
        case .kwallet: "--bus names a bus on which KWallet is the Secret Service: dbus-run-session starts one"
        }
    }

    /// What to do if it is not on the bus.
    var startHint: String {
        switch self {
        case .gnomeKeyring:
            "start gnome-keyring-daemon, or read a file: --file ~/.local/share/keyrings/login.keyring"
        case .kwallet: "start kwalletd, and enable the Secret Service in the settings of KWallet"
        }
    }
}
