// SPDX-License-Identifier: Apache-2.0

/// A reference to a generic password of the keychain, as it stands in files.
struct ItemReference: Hashable {
    let service: String
    let account: String

    /// `latchkey://SERVICE/ACCOUNT`. Both parts are percent-encoded: the text has no character that another one must
    /// escape in JSON, YAML, TOML, XML, property lists, INI files or a shell.
    var text: String { "latchkey://\(PercentEncoding.text(service))/\(PercentEncoding.text(account))" }
}
