// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Selects the key that a command uses: one of the keychain, or one of a file.
struct KeySelector: ParsableArguments {
    @Option(
        name: [.customShort("t"), .long],
        help: ArgumentHelp("The key of the keychain with this tag or label.", valueName: "tag"))
    var tag: String?

    @Option(
        name: [.customShort("k"), .long],
        help: ArgumentHelp("The key of this file (PEM, DER, OpenSSH).", valueName: "file"), completion: .file())
    var keyFile: FilePath?

    @Option(help: ArgumentHelp("Only this access group.", valueName: "group"))
    var accessGroup: String?

    @OptionGroup var prompting: PromptOptions

    func validate() throws {
        guard (tag == nil) != (keyFile == nil) else {
            throw ValidationError("name a key: --tag TAG or --key-file FILE")
        }
    }

    /// Rejects a command line that would read standard input twice.
    func check(against files: FilePath...) throws(CommandFailure) {
        guard (files + [keyFile ?? ""]).count(where: { $0 == "-" }) <= 1 else {
            throw .usage("standard input can be read only once; name a file")
        }
    }

    /// Returns the private key.
    func privateKey(_ passphrase: SharedSecret?, in session: CommandSession) throws(CommandFailure) -> any PrivateKey {
        if let tag {
            let keychain = try session.keychain()
            let person = prompting.person
            let record = try KeySearch.one(tag, half: .privateKey, group: accessGroup, in: keychain, for: person)
            return try KeySearch.privateKey(record, in: keychain, for: person)
        }
        guard case .privateKey(let key) = try entry(passphrase, in: session) else {
            throw .parameter("the file contains a public key, but a private key is required")
        }
        return key
    }

    /// Returns the public key, also from a private key.
    func publicKey(_ passphrase: SharedSecret?, in session: CommandSession) throws(CommandFailure) -> PublicKey {
        guard let tag else { return try entry(passphrase, in: session).publicKey }
        let keychain = try session.keychain()
        let person = prompting.person
        do throws(CommandFailure) {
            let record = try KeySearch.one(tag, half: .publicKey, group: accessGroup, in: keychain, for: person)
            return try KeySearch.publicKey(record, in: keychain)
        } catch {
            guard case .status(let problem, _) = error, problem.status == .itemNotFound else { throw error }
            let record = try KeySearch.one(tag, half: .privateKey, group: accessGroup, in: keychain, for: person)
            return try KeySearch.publicKey(record, in: keychain)
        }
    }

    private func entry(_ passphrase: SharedSecret?, in session: CommandSession) throws(CommandFailure)
        -> KeyFileEntry
    {
        let bytes = try KeyFileIO.read(keyFile ?? "-")
        for note in bytes.withUnsafeBytes({ CertificateBundle(reading: $0).notes }) {
            session.warn("\(keyFile ?? "standard input"), \(note)")
        }
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            let entries = try bytes.withUnsafeBytes { (bytes) throws(KeychainError) in
                try KeyFile.read(bytes, passphrase: passphrase)
            }
            guard let first = entries.first, entries.count == 1 else {
                throw .parameter("the file must contain one key, but contains \(entries.count)")
            }
            return first
        }
    }
}

/// The passphrase of a key file.
struct KeyPassphrase: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file with the passphrase of the key file, mode 0600.", valueName: "file"),
        completion: .file())
    var passphraseFile: FilePath?

    func read(in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        guard let passphraseFile else { return nil }
        return try KeyFilePassphrase.read(file: passphraseFile, in: session)
    }
}

/// The destination of the result.
struct KeyOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write to this file instead of standard output.", valueName: "file"), completion: .file())
    var output: FilePath?

    @Flag(help: "Replace an existing file.")
    var force = false

    func write(_ secret: SharedSecret, in session: CommandSession) throws(CommandFailure) {
        try KeyFileIO.write(secret, to: output, replaces: force, advice: "--force replaces it", in: session)
    }
}
