// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

extension KeychainName {
    /// Reads a name, or a path as macOS's scripts and programs use them.
    ///
    /// Only the last part of a path counts, because keychains are all in one place here:
    /// `~/Library/Keychains/build.keychain-db`, `/tmp/build.keychain` and `build` are the same.
    ///
    /// - Throws: errSecInvalidKeychain if it contains no name, or is the path of another file;
    ///   errSecNoSuchKeychain for a path that is not one of a keychain.
    public init(path: String) throws(KeychainError) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"))
        let file = parts.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard let name = KeychainName(file), !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
            throw KeychainError(.invalidKeychain, "'\(path)' is not the name of a keychain")
        }
        if path.utf8.contains(UInt8(ascii: "/")) {
            guard file.hasSuffix(".keychain") || file.hasSuffix(".keychain-db") else {
                throw KeychainError(
                    .noSuchKeychain, "there is no keychain at this path",
                    hint: "keychains have names: \(name.fileName), or NAME.keychain in any directory")
            }
            guard !Self.isForeignFile(path) else {
                throw KeychainError(
                    .invalidKeychain, "this file is not a keychain of Latchkey",
                    hint:
                        "on the Mac: security export -k FILE -t identities -f pkcs12 -o identities.p12; here: security import"
                )
            }
        }
        self = name
    }

    /// Whether there is a file at a path where a script of macOS expects its keychain.
    private static func isForeignFile(_ path: String) -> Bool {
        ((try? FileStatus.of(path)) ?? nil).map { $0.kind != .directory } ?? false
    }
}
