// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key verify`.
struct KeyVerify: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the signature of a file. Exits with 0 only if it is valid.",
        discussion: """
            EXAMPLES:
              latchkey key verify --tag com.example.key --signature message.sig message.txt
              latchkey key verify --key-file public.pem --signature message.sig \\
                  --algorithm PS256 message.txt
            """)

    @OptionGroup var key: KeySelector
    @OptionGroup var passphrase: KeyPassphrase
    @OptionGroup var algorithm: AlgorithmOption

    @Option(
        name: [.customShort("s"), .long], help: ArgumentHelp("The file with the signature.", valueName: "file"),
        completion: .file())
    var signature: FilePath

    @Argument(help: "The message, or the digest; the default is standard input.", completion: .file())
    var file: FilePath = "-"

    func run(in session: CommandSession) throws(CommandFailure) {
        try key.check(against: file, signature)
        let secret = try passphrase.read(in: session)
        let key = try key.publicKey(secret, in: session)
        let algorithm = try algorithm.algorithm(for: key.kind, .verify)
        let (signature, message) = (try KeyFileIO.read(signature), try KeyFileIO.read(file))
        let isSigned = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try signature.withUnsafeBytes { (signature) throws(KeychainError) in
                try message.withUnsafeBytes { (message) throws(KeychainError) in
                    try key.isSignature(signature, of: message, algorithm)
                }
            }
        }
        guard isSigned else {
            throw .status(KeychainError(.verifyFailed, "the signature is not valid for this key and message"))
        }
        session.io.say("latchkey: the signature is valid\n")
    }
}
