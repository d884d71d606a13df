// SPDX-License-Identifier: Apache-2.0

import GnomeKeyringFile
import SecretMemory

/// A file from an untrusted source that is read as a keyring. The first byte selects the kind of the others. The fuzzer
/// and the test that replays its corpus share it.
enum KeyringInput {
    /// The kind of an input, by its first byte.
    enum Kind: UInt8, CaseIterable {
        /// A whole file.
        case file
        /// The number of items, and their encrypted parts, in a file that the password opens.
        case content
        /// The number of items, and their plain parts.
        case heads
    }

    /// Reads the input.
    ///
    /// - Returns: whether the input was accepted, and the fault that was found; nil for none.
    static func read(_ bytes: [UInt8]) -> (isAccepted: Bool, fault: String?) {
        guard let kind = bytes.first.flatMap(Kind.init), let file = contents(kind, Array(bytes.dropFirst())) else {
            return (false, nil)
        }
        let password = SharedSecret(copying: KeyringDraft.password)
        guard let opened = try? KeyringFile(SharedSecret(copying: file)),
            let keyring = try? opened.open(with: password)
        else { return (false, nil) }
        return (true, fault(in: keyring, of: file.count))
    }

    private static func contents(_ kind: Kind, _ bytes: [UInt8]) -> [UInt8]? {
        var draft = KeyringDraft()
        switch kind {
        case .file: return bytes
        case .content:
            guard let count = bytes.first else { return nil }
            draft = KeyringDraft([[UInt8]](repeating: [], count: Int(count)))
            draft.content = Array(bytes.dropFirst())
        case .heads:
            let count = Int(bytes.first ?? 0)
            draft = KeyringDraft([[UInt8]](repeating: KeyringDraft.item("A", "secret"), count: count))
            draft.heads = Array(bytes.dropFirst())
        }
        return try? draft.encoded()
    }

    /// Returns a fault if the items have more bytes than the size of the file allows.
    private static func fault(in keyring: GnomeKeyring, of size: Int) -> String? {
        guard keyring.created <= keyring.modified else { return "a keyring was created after it was changed" }
        let count = keyring.items.reduce(0) { sum, item in
            sum + item.secret.count + item.label.utf8.count
                + item.attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.text.utf8.count }
        }
        // A number of four bytes has up to ten digits.
        return count <= 3 * size ? nil : "a file of \(size) bytes has \(count) bytes of items"
    }
}
