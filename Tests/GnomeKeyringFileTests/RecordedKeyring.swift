// SPDX-License-Identifier: Apache-2.0

import Foundation
import GnomeKeyringFile
import SecretMemory

/// A file that gnome-keyring 42.1 has written: Vectors/README.md.
enum RecordedKeyring: String, CaseIterable, Sendable {
    case encrypted, plain, lines, login
    case integersEncrypted = "integers-encrypted"
    case integersPlain = "integers-plain"

    /// The password; nil for the plain format.
    var password: String? {
        switch self {
        case .encrypted: "sesame \u{E9}"
        case .integersEncrypted: "changed"
        case .login: "login-pw"
        case .plain, .lines, .integersPlain: nil
        }
    }

    func bytes() throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return Array(try Data(contentsOf: folder.appending(path: "Vectors/\(rawValue).keyring")))
    }

    func opened() throws -> GnomeKeyring {
        try KeyringFile(SharedSecret(copying: bytes())).open(
            with: password.map { SharedSecret(copying: $0.utf8) })
    }
}
