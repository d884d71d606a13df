// SPDX-License-Identifier: Apache-2.0

import KeychainIdentities
import LatchkeyURLSession

/// Loads a URL with an identity of the keychain, or tries to export it.
@main
struct Client {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("get", 2), ("get", 3): await get(words[1], label: words.count == 3 ? words[2] : nil)
        case ("export", 2): export(words[1])
        default: fail("usage: mtls-client get URL [LABEL] | export LABEL")
        }
    }

    private static func get(_ text: String, label: String?) async {
        guard let url = URL(string: text) else { fail("not a URL: \(text)") }
        let session = URLSession(
            configuration: .latchkey, delegate: ClientIdentityDelegate(label: label), delegateQueue: nil)
        do {
            let (data, _) = try await session.data(from: url)
            print(String(decoding: data, as: UTF8.self), terminator: "")
        } catch {
            let error = error as NSError
            fail("\(error.code) \(error.localizedDescription)")
        }
    }

    private static func export(_ label: String) {
        guard let identity = KeychainIdentities.identity(label: label),
            let isExtractable = KeychainIdentities.isExtractable(label: label)
        else { fail("the keychain has no identity \(label)") }
        var isKept = !isExtractable
        print("kSecAttrIsExtractable: \(isExtractable)")
        for (call, answer) in KeychainIdentities.exportAttempts(of: identity) {
            switch answer {
            case .failure(let error): print("\(call): \(error.status)")
            case .success:
                print("\(call): exported")
                isKept = false
            }
        }
        if !isKept { fail("the private key of \(label) can leave the keychain") }
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("mtls-client: \(reason)\n".utf8))
        exit(1)
    }
}
