// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import SecretServiceClient
internal import SystemBus

/// The source program of the imported items. Both are the same Secret Service.
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

    /// Returns the program that a client reads; nil for another one. It is known by the file of its process, or
    /// by a name of the bus that no other program has.
    static func program(of client: SecretServiceClient) throws(SecretServiceClientError) -> KeyringOrigin? {
        for origin in allCases {
            if let name = client.program.name, origin.executables.contains(name) { return origin }
            for name in origin.busNames where try client.owns(name) { return origin }
        }
        return nil
    }

    /// Whether a Secret Service that is neither of the two is read as this one.
    var includesOthers: Bool { self == .gnomeKeyring }

    private var executables: [String] {
        switch self {
        case .gnomeKeyring: ["gnome-keyring-daemon"]
        case .kwallet: ["kwalletd", "kwalletd5", "kwalletd6", "ksecretd"]
        }
    }

    private var busNames: [BusName] {
        switch self {
        case .gnomeKeyring: ["org.gnome.keyring"]
        case .kwallet: ["org.kde.kwalletd", "org.kde.kwalletd5", "org.kde.kwalletd6", "org.kde.secretservicecompat"]
        }
    }

    /// The remedy if Latchkey is the Secret Service of the bus.
    var otherBusHint: String {
        switch self {
        case .gnomeKeyring: "read a file: --file ~/.local/share/keyrings/login.keyring"
        case .kwallet: "--bus names a bus with KWallet as the Secret Service: dbus-run-session starts one"
        }
    }

    /// The remedy if the program is not on the bus.
    var startHint: String {
        switch self {
        case .gnomeKeyring:
            "start gnome-keyring-daemon, or read a file: --file ~/.local/share/keyrings/login.keyring"
        case .kwallet: "start kwalletd, and enable the Secret Service in the settings of KWallet"
        }
    }
}
