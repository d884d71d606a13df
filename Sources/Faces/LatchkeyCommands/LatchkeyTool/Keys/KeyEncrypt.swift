// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key encrypt`.
struct KeyEncrypt: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypt a file for the owner of a private key.",
        discussion: """
            Without --algorithm: oaep-sha256 for RSA (encrypts one block), or ecies-sha256 for EC (encrypts any \
            length). oaep-sha256-aesgcm encrypts any length for RSA.

            EXAMPLES:
              latchkey key encrypt --key-file public.pem secret.txt > secret.bin
              latchkey key encrypt --tag com.example.key --algorithm oaep-sha256-aesgcm \\
                  -o large.bin large.txt
            """)

    @OptionGroup var key: KeySelector
    @OptionGroup var passphrase: KeyPassphrase
    @OptionGroup var algorithm: AlgorithmOption
    @OptionGroup var output: KeyOutputOptions

    @Argument(help: "The file to encrypt; the default is standard input.", completion: .file())
    var file: FilePath = "-"

    func run(in session: CommandSession) throws(CommandFailure) {
        try key.check(against: file)
        let secret = try passphrase.read(in: session)
        let key = try key.publicKey(secret, in: session)
        let algorithm = try algorithm.algorithm(for: key.kind, .encrypt)
        let plaintext = try KeyFileIO.read(file)
        let ciphertext = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try plaintext.withUnsafeBytes { (plaintext) throws(KeychainError) in try key.encrypted(plaintext, algorithm)
            }
        }
        try output.write(SharedSecret(copying: ciphertext), in: session)
    }
}
