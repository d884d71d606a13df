// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key sign`.
struct KeySign: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a file with a private key.",
        discussion: """
            Without --algorithm: rsa-pkcs1-sha256 or ecdsa-sha256.

            EXAMPLES:
              latchkey key sign --tag com.example.key message.txt > message.sig
              latchkey key sign --key-file key.pem --algorithm rsa-pss-sha256 \\
                  -o message.sig message.txt
            """)

    @OptionGroup var key: KeySelector
    @OptionGroup var passphrase: KeyPassphrase
    @OptionGroup var algorithm: AlgorithmOption
    @OptionGroup var output: KeyOutputOptions

    @Argument(help: "The message, or the digest; the default is standard input.", completion: .file())
    var file: FilePath = "-"

    func run(in session: CommandSession) throws(CommandFailure) {
        try key.check(against: file)
        let secret = try passphrase.read(in: session)
        let key = try key.privateKey(secret, in: session)
        let algorithm = try algorithm.algorithm(for: key.kind, .sign)
        let message = try KeyFileIO.read(file)
        let signature = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try message.withUnsafeBytes { (message) throws(KeychainError) in try key.signature(of: message, algorithm) }
        }
        try output.write(SharedSecret(copying: signature), in: session)
    }
}
