// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key decrypt`.
struct KeyDecrypt: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Decrypt a file with a private key.",
        discussion: """
            EXAMPLES:
              latchkey key decrypt --tag com.example.key secret.bin
              latchkey key decrypt --key-file key.pem --algorithm oaep-sha1 \\
                  -o secret.txt secret.bin
            """)

    @OptionGroup var key: KeySelector
    @OptionGroup var passphrase: KeyPassphrase
    @OptionGroup var algorithm: AlgorithmOption
    @OptionGroup var output: KeyOutputOptions

    @Argument(help: "The file to decrypt; the default is standard input.", completion: .file())
    var file: FilePath = "-"

    func run(in session: CommandSession) throws(CommandFailure) {
        try key.check(against: file)
        let secret = try passphrase.read(in: session)
        let key = try key.privateKey(secret, in: session)
        let algorithm = try algorithm.algorithm(for: key.kind, .decrypt)
        let ciphertext = try KeyFileIO.read(file)
        let plaintext = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try ciphertext.withUnsafeBytes { (ciphertext) throws(KeychainError) in
                try key.decrypted(ciphertext, algorithm)
            }
        }
        try output.write(plaintext, in: session)
    }
}
