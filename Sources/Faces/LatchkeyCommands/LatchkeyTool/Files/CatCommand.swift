// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem
internal import SecretMemory

/// `latchkey cat`.
struct CatCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.cat.rawValue, abstract: LatchkeySubcommand.cat.abstract,
        discussion: """
            The exit value is 36 while the class of the file is closed. Plain files are refused.

            EXAMPLES:
              latchkey cat notes.txt
              latchkey cat archive.tar | tar -t
              latchkey cat --from-keychain scans/passport > passport.tiff
            """)

    @Argument(help: ArgumentHelp("The protected files.", valueName: "file"), completion: .file())
    var paths: [FilePath] = []

    @Option(
        help: ArgumentHelp("Print a file that the keychain stores under this name.", valueName: "service/account"))
    var fromKeychain: String?

    @OptionGroup var keyOptions: FileKeyOptions

    func validate() throws {
        guard paths.isEmpty != (fromKeychain == nil) else {
            throw ValidationError("give either files or --from-keychain NAME")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        if let fromKeychain {
            keyOptions.passcode.unlockOnDemand(in: session)
            var copy = try StoredFileCopy(named: fromKeychain, in: session)
            return try copy.forEachPart {
                (part, _) throws(CommandFailure) in try Self.write(part, in: session)
            }
        }
        let keys = try keyOptions.keys(in: session)
        for path in paths { try Self.write(path, keys, in: session) }
    }

    private static func write(_ part: SharedSecret, in session: CommandSession) throws(CommandFailure) {
        // EXPOSE: the user asked for the content.
        try part.withUnsafeBytes { (bytes) throws(CommandFailure) in
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.write(bytes, to: .output) }
        }
    }

    private static func write(
        _ path: FilePath, _ keys: SessionFileKeys, in session: CommandSession
    ) throws(CommandFailure) {
        let container = try FileFailure.mapErrors(path) { () throws(FileProtectionError) in
            let descriptor = try mapSystemErrors { () throws(SystemError) in
                try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            }
            return try ProtectedContainer(
                opening: descriptor, path: path.description, isWritable: false, cacheCount: 0,
                cipher: { (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        }
        let buffer = SecretBuffer(count: 4 * ContainerFormat.maxChunkSize)
        var position: UInt64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { (bytes) throws(CommandFailure) in
                let got = try FileFailure.mapErrors(path) { () throws(FileProtectionError) in
                    try container.read(into: bytes, at: position)
                }
                // EXPOSE: the user asked for the content.
                let part = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(got))
                try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.write(part, to: .output)
                }
                return got
            }
            guard count > 0 else { return }
            position += UInt64(count)
        }
    }
}
