// SPDX-License-Identifier: Apache-2.0

import AccountKit
import Foundation

/// The app on a terminal: `account save NAME < TOKEN`, `account token NAME`, `account list`,
/// `account remove NAME`, `account open NAME`, `account public-key`, `account sign < REQUEST`.
@main
struct Account {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        let store = KeychainStore()
        do {
            switch (words.first, words.count) {
            case ("save", 2): try store.save(readLine() ?? "", for: words[1])
            case ("token", 2): print(try store.token(for: words[1]) ?? "no token")
            case ("list", 1): print(try store.accounts().joined(separator: " "))
            case ("remove", 2): try store.removeToken(for: words[1])
            case ("open", 2):
                let outcome = await opened()
                guard outcome == .opened else { return fail("\(outcome)") }
                print(try store.token(for: words[1]) ?? "no token")
            case ("public-key", 1): write(try RequestSigner().publicKey())
            case ("sign", 1): write(try RequestSigner().signature(of: FileHandle.standardInput.readDataToEndOfFile()))
            default: fail("usage: account save|token|open|remove NAME | list | public-key | sign")
            }
        } catch {
            fail("\(error)")
        }
    }

    private static func opened() async -> BiometricGate.Outcome {
        await withCheckedContinuation { continuation in
            BiometricGate().open(reason: "Show the token") { continuation.resume(returning: $0) }
        }
    }

    private static func write(_ data: Data) { FileHandle.standardOutput.write(data) }

    private static func fail(_ reason: String) {
        FileHandle.standardError.write(Data("account: \(reason)\n".utf8))
        exit(1)
    }
}
