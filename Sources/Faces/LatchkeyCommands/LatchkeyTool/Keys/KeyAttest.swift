// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeyAttestation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key attest`.
struct KeyAttest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest", abstract: "Prove that a key is in a TPM and never leaves it.",
        discussion: """
            The machine with the key prints the identity of its TPM (identity). The verifier needs no TPM; it checks \
            the certificate of the TPM's maker and prints a challenge for the TPM (challenge). The machine answers, \
            and the verifier checks the answer (verify): it prints the public key.

            EXAMPLES:
              latchkey key attest identity --tag com.example.key -o identity
              latchkey key attest challenge --ca ca.pem --state state identity -o challenge
              latchkey key attest answer --tag com.example.key challenge -o answer
              latchkey key attest verify --state state answer > key.pem
            """,
        subcommands: [Identity.self, Challenge.self, Answer.self, Verify.self])

    /// `latchkey key attest identity`.
    struct Identity: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "identity", abstract: "Print the identity of the TPM.",
            discussion: """
                EXAMPLES:
                  latchkey key attest identity --tag com.example.key -o identity
                """)

        @OptionGroup var key: KeySelector
        @OptionGroup var output: KeyOutputOptions

        func run(in session: CommandSession) throws(CommandFailure) {
            try output.write(try key.attestationMessage([], in: session), in: session)
        }
    }

    /// `latchkey key attest challenge`.
    struct Challenge: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "challenge", abstract: "Verify a TPM, and print a challenge for it.",
            discussion: """
                EXAMPLES:
                  latchkey key attest challenge --ca ca.pem --state state identity -o challenge
                """)

        @Option(
            help: ArgumentHelp("Trust this certificate of a maker of TPMs (PEM or DER).", valueName: "file"),
            completion: .file())
        var ca: [FilePath]

        @Option(help: ArgumentHelp("A further certificate for the chain.", valueName: "file"), completion: .file())
        var intermediate: [FilePath] = []

        @Option(
            help: ArgumentHelp("The certificate of the TPM, if it has none itself.", valueName: "file"),
            completion: .file())
        var ekCertificate: FilePath?

        @Option(
            help: ArgumentHelp("Write the state of the verifier to this file (mode 0600).", valueName: "file"),
            completion: .file())
        var state: FilePath

        @OptionGroup var output: KeyOutputOptions

        @Argument(help: "The output of identity.", completion: .file())
        var identity: FilePath

        func run(in session: CommandSession) throws(CommandFailure) {
            let verifier = AttestationVerifier(
                anchors: try CertificateFiles.read(ca, in: session),
                intermediates: try CertificateFiles.read(intermediate, in: session),
                at: WallClock.now)
            let given = try ekCertificate.map { (path) throws(CommandFailure) in
                try CertificateFiles.read([path], in: session)
            }
            let message = try KeyFileIO.message(identity)
            let challenge = try withErrors(as: CommandFailure.init) { () throws(AttestationError) in
                try verifier.challenge(
                    for: try AttestationIdentity(decoding: message), certificate: given?.first?.der)
            }
            try KeyFileIO.write(
                challenge.encoded, to: state, replaces: output.force, advice: "--force replaces it", in: session)
            try output.write(SharedSecret(copying: challenge.request.encoded), in: session)
        }
    }

    /// `latchkey key attest answer`.
    struct Answer: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "answer", abstract: "Answer a challenge with a key.",
            discussion: """
                EXAMPLES:
                  latchkey key attest answer --tag com.example.key challenge -o answer
                """)

        @OptionGroup var key: KeySelector
        @OptionGroup var output: KeyOutputOptions

        @Argument(help: "The output of challenge.", completion: .file())
        var challenge: FilePath

        func run(in session: CommandSession) throws(CommandFailure) {
            try key.check(against: challenge)
            let message = try KeyFileIO.message(challenge)
            guard !message.isEmpty else { throw .parameter("the challenge is empty") }
            try output.write(try key.attestationMessage(message, in: session), in: session)
        }
    }

    /// `latchkey key attest verify`.
    struct Verify: ParsableSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Verify an answer, and print the public key.",
            discussion: """
                EXAMPLES:
                  latchkey key attest verify --state state answer > key.pem
                  latchkey key attest verify --state state answer --json
                """)

        @Option(help: ArgumentHelp("The file of the same option of challenge.", valueName: "file"), completion: .file())
        var state: FilePath

        @Flag(help: "Print JSON.")
        var json = false

        @Argument(help: "The output of answer.", completion: .file())
        var answer: FilePath

        func run(in session: CommandSession) throws(CommandFailure) {
            let stored = try KeyFileIO.read(state)
            let message = try KeyFileIO.message(answer)
            let verifier = AttestationVerifier(anchors: [], at: WallClock.now)
            let key = try withErrors(as: CommandFailure.init) { () throws(AttestationError) in
                try verifier.verify(
                    try AttestationAnswer(decoding: message), to: try AttestationChallenge(decoding: stored))
            }
            let file = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try KeyFile.write(
                    .publicKey(
                        try .of(PublicKeyInfo(EnclaveKey.kind, half: .publicKey, publicKey: key.publicKey))),
                    as: .pkcs8)
            }
            // EXPOSE: a public key.
            let pem = file.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            try session.write(
                json ? try JSONText.of(AttestationReport(key, pem: pem)) : TerminalText(lines: pem))
            session.io.say("latchkey: the key was made in the TPM and never leaves it\n")
        }
    }
}

/// A verified key, in the shape of its JSON.
private struct AttestationReport: Encodable {
    /// PEM.
    var publicKey: String
    /// How often the TPM was reset, and restarted since.
    var resetCount: UInt32
    var restartCount: UInt32
    /// In hexadecimal.
    var firmware: String

    init(_ key: AttestedKey, pem: String) {
        publicKey = pem
        (resetCount, restartCount) = (key.resetCount, key.restartCount)
        firmware = String(key.firmware, radix: 16)
    }
}

extension CommandFailure {
    /// An error of a verification, with its status.
    fileprivate init(_ error: AttestationError) {
        switch error {
        case .malformed: self = .parameter(error.description)
        case .noCertificate:
            self = .status(KeychainError(.notTrusted, error.description, hint: "give it with --ek-certificate FILE"))
        case .untrustedCertificate, .unsupportedKey: self = .status(KeychainError(.notTrusted, error.description))
        case .wrongProperties, .wrongAnswer, .wrongSignature, .failed:
            self = .status(KeychainError(.verifyFailed, error.description))
        }
    }
}

extension KeySelector {
    /// Sends a message to the TPM of the key.
    fileprivate func attestationMessage(
        _ request: [UInt8], in session: CommandSession
    ) throws(CommandFailure) -> SharedSecret {
        let key = try privateKey(nil, in: session)
        return try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try request.withContiguousBytes { (bytes) throws(KeychainError) in try key.use(.attest, on: bytes) }
        }
    }
}

extension KeyFileIO {
    /// Reads a message of an attestation.
    fileprivate static func message(_ path: FilePath) throws(CommandFailure) -> [UInt8] {
        // EXPOSE: messages of an attestation are not secret.
        try read(path).withUnsafeBytes { Array($0.prefix(1 << 17)) }
    }
}
