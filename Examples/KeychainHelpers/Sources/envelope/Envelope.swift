// SPDX-License-Identifier: Apache-2.0

import Foundation
import HelpersSwift6
import Security

/// Encrypts files for the owner of a private key, and signs them. The private key is in the
/// keychain and is used there.
///
/// `envelope seal|open|sign|verify|public|delete [ALGORITHM] [SIGNATURE]`: standard input to
/// standard output.
@main
struct Envelope {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        let algorithm = words.count > 1 ? SecKeyAlgorithm(rawValue: "algid:\(words[1])" as CFString) : nil
        let helper = RSAHelper(tag: "com.example.envelope", algorithm: algorithm ?? .rsaEncryptionOAEPSHA256)
        do {
            switch words.first {
            case "seal": print(try helper.encrypt(input()))
            case "open": print(try helper.decrypt(input()))
            case "sign": print(try helper.sign(input(), algorithm ?? .rsaSignatureMessagePKCS1v15SHA256))
            case "verify":
                let signature = try Data(contentsOf: URL(fileURLWithPath: words[2]))
                guard try helper.verify(signature, of: input(), algorithm ?? .rsaSignatureMessagePKCS1v15SHA256) else {
                    exit(1)
                }
            case "public": print(try helper.exportedPublicKey())
            case "delete": try helper.deleteKeys()
            default: exit(2)
            }
        } catch {
            FileHandle.standardError.write(Data("envelope: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func input() -> Data { FileHandle.standardInput.readDataToEndOfFile() }
    private static func print(_ data: Data) { FileHandle.standardOutput.write(data) }
}
