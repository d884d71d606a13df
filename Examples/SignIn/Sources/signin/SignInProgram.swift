// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignIn

/// `signin serve`: reads a request a line, and answers each with a line.
/// `signin create FILE`, `signin answer FILE USER CHALLENGE`: the client, see Scripts/demonstrate/sign-in.
@main
struct SignInProgram {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("serve", 1): await serve()
            case ("create", 2): say(try SignInClient(creating: URL(filePath: words[1])).publicKey.base64URL)
            case ("answer", 4):
                let client = try SignInClient(opening: URL(filePath: words[1]))
                say(try client.answer(try bytes(words[3]), user: words[2]).base64URL)
            case ("webauthn-create", 5):
                let client = try SignInClient(opening: URL(filePath: words[1]))
                let made = client.registration(
                    challenge: try bytes(words[4]), site: Site(identifier: words[2], origin: words[3]))
                say(client.credential.base64URL, made.clientData.base64URL, made.attestationObject.base64URL)
            case ("webauthn-get", 5):
                let client = try SignInClient(opening: URL(filePath: words[1]))
                let made = try client.assertion(
                    challenge: try bytes(words[4]), site: Site(identifier: words[2], origin: words[3]))
                say(made.clientData.base64URL, made.authenticatorData.base64URL, made.signature.base64URL)
            default: throw Usage()
            }
        } catch {
            FileHandle.standardError.write(Data("signin: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Writes a line at once: the other side of a pipe waits for it.
    private static func say(_ words: String...) {
        FileHandle.standardOutput.write(Data((words.joined(separator: " ") + "\n").utf8))
    }

    struct Usage: Error, CustomStringConvertible {
        var description: String {
            "usage: serve | create FILE | answer FILE USER CHALLENGE | webauthn-create|webauthn-get FILE SITE ORIGIN CHALLENGE"
        }
    }

    private static func bytes(_ text: String) throws -> Data {
        guard let bytes = Data(base64URL: text) else { throw Usage() }
        return bytes
    }

    // MARK: The server

    private static func serve() async {
        let server = SignInServer()
        while let line = readLine() {
            do {
                say(try await answer(line.split(separator: " ").map(String.init), server))
            } catch {
                say("refused: \(error)")
            }
        }
    }

    private static func answer(_ words: [String], _ server: SignInServer) async throws -> String {
        switch (words.first, words.count) {
        case ("register", 3):
            try await server.register(words[1], publicKey: try bytes(words[2]))
            return "registered"
        case ("challenge", 2): return try await server.challenge(for: words[1]).base64URL
        case ("sign-in", 4):
            try await server.signIn(words[1], challenge: try bytes(words[2]), signature: try bytes(words[3]))
            return "signed in"
        default: throw Usage()
        }
    }
}
