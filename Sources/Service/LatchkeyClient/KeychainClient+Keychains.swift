// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
internal import LinuxSystem
public import SecretMemory

// The user's keychains together with the files that stand for them. The files are of this process:
// another user's daemon does not have the rights to them.

extension KeychainClient {
    /// Returns the user's keychains with their paths. A keychain with a path is among them only if its
    /// file is there.
    public static func keychains() throws(KeychainError) -> KeychainOverview {
        let overview = try registry().keychains()
        let hidden = withoutFile(overview)
        let places = overview.places.filter { !hidden.contains($0.name) }
        return KeychainOverview(
            places: places.map { KeychainPlace($0.name, path: KeychainFile.shownPath(of: $0.name, $0)) },
            list: overview.list)
    }

    /// Returns the paths of the keychains with a removed file. They count towards the max number, and no command shows
    /// their items; a new keychain with the path replaces them.
    public static func keychainsWithoutFile() throws(KeychainError) -> [KeychainName] {
        withoutFile(try registry().keychains())
    }

    private static func withoutFile(_ overview: KeychainOverview) -> [KeychainName] {
        let directory = overview.dataDirectory
        return overview.places.map(\.name).filter {
            $0.isPath && !KeychainFile.exists(of: $0, dataDirectory: directory)
        }
    }

    /// Creates a keychain with its file, and appends it to the search list.
    ///
    /// The file is created first: of two processes, one succeeds. A keychain with this path that has lost its file is
    /// deleted then, as it was with the file on macOS.
    ///
    /// - Parameter passcode: nil for a keychain that is always unlocked.
    /// - Throws: errSecDuplicateKeychain if the keychain exists, or any file in its place; errSecParam for
    ///   more than ``KeychainList/maxCount``; nothing is changed then.
    public static func createKeychain(_ file: KeychainFile, passcode: SharedSecret?) throws(KeychainError) {
        let registry = try registry()
        guard !(registry is SingleKeychain) else { return try registry.createKeychain(file.name, passcode: passcode) }
        let known = try registry.keychains()
        try file.requireNew(in: try keychains())
        try requireSpace(for: file.name, known)
        let directory = known.dataDirectory
        let isNew = try file.create(dataDirectory: directory)
        do throws(KeychainError) {
            // Only a keychain with a path can have lost its file; one of another process with this name stays.
            if file.name.isPath, known.place(file.name) != nil {
                try registry.deleteKeychain(file.name)
                forget(file.name)
            }
            try registry.createKeychain(file.name, passcode: passcode)
        } catch {
            // Another process may have created the keychain meanwhile: then the file is that of its keychain.
            // Without an answer, the file stays, and delete-keychain removes both.
            if isNew, let now = try? registry.keychains(), now.place(file.name) == nil {
                try? file.remove(dataDirectory: directory)
            }
            throw error
        }
    }

    /// - Throws: errSecParam if there is no space for another keychain beside those that no command shows.
    private static func requireSpace(for name: KeychainName, _ known: KeychainOverview) throws(KeychainError) {
        guard known.places.count >= KeychainList.maxCount, known.place(name) == nil else { return }
        let lost = withoutFile(known).map(\.text.shellQuoted)
        guard !lost.isEmpty else { return }
        throw KeychainError(
            .param,
            "a user has at most \(KeychainList.maxCount) keychains; the files of \(lost.count) of them were removed",
            hint: "delete those too: security delete-keychain \(lost.joined(separator: " "))")
    }

    /// Deletes a keychain with everything in it, and its file, and removes it from the search list; also the rest if
    /// only one of them exists.
    ///
    /// - Throws: errSecNoSuchKeychain; errSecParam for the keychain that every user has.
    public static func deleteKeychain(_ name: KeychainName) throws(KeychainError) {
        guard try canDelete(name) else { throw UserKeychains.missing(name) }
        let registry = try registry()
        let overview = try registry.keychains()
        if overview.place(name) != nil {
            try registry.deleteKeychain(name)
            forget(name)
        } else {
            let search = overview.list.search
            if search.contains(name) { try registry.changeKeychainList(.search(search.filter { $0 != name })) }
            if overview.list.defaultKeychain == name { try registry.changeKeychainList(.defaultKeychain(.login)) }
        }
        try KeychainFile.remove(of: name, dataDirectory: overview.dataDirectory)
    }

    /// Whether there is a keychain or its file to delete.
    public static func canDelete(_ name: KeychainName) throws(KeychainError) -> Bool {
        let overview = try registry().keychains()
        return overview.place(name) != nil || KeychainFile.exists(of: name, dataDirectory: overview.dataDirectory)
    }
}

extension KeychainOverview {
    /// Where the keychains are.
    var dataDirectory: String {
        let database = places.first?.path ?? ""
        return ParentDirectory.of(database) ?? database
    }

    /// Returns the keychain that a name, a path, or the path that commands print stands for, also if it does
    /// not exist.
    ///
    /// - Throws: errSecInvalidKeychain for text that is neither, and for the path of another file.
    public func name(of text: String) throws(KeychainError) -> KeychainName {
        // By bytes: two names that a person reads alike are two keychains.
        let known = places.first {
            $0.path.utf8.elementsEqual(text.utf8) || $0.name.text.utf8.elementsEqual(text.utf8)
        }
        if let known { return known.name }
        let file = try KeychainFile(text)
        guard place(file.name) != nil || !file.isForeign else {
            throw KeychainError(
                .invalidKeychain, "\(file.path ?? text) is not a keychain of Latchkey",
                hint:
                    "on the Mac: security export -k FILE -t identities -f pkcs12 -o identities.p12; here: security import"
            )
        }
        return file.name
    }
}
