// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The revocation options of a command line.
enum RevocationArguments {
    /// Returns the policies for these words.
    ///
    /// - Throws: the result of `refusal` for an unknown word.
    static func policies(_ words: [String], refusal: (String) -> CommandFailure) throws(CommandFailure) -> [TrustPolicy]
    {
        var options: RevocationOptions = []
        for word in words {
            switch word {
            case "none": return []
            case "offline": options.formUnion([.ocsp, .lists, .isOffline])
            case "ocsp": options.insert(.ocsp)
            case "crl": options.insert(.lists)
            case "require": options.formUnion([.ocsp, .lists, .requiresPositiveResponse])
            default: throw refusal("expected none, offline, crl, ocsp or require, found '\(word)'")
            }
        }
        return options.isEmpty ? [] : [.revocation(options)]
    }

    static func information(lists: [FilePath], responses: [FilePath]) throws(CommandFailure) -> RevocationInformation {
        var information = RevocationInformation()
        for path in lists {
            let bytes = try KeyFileIO.read(path).withUnsafeBytes { Array($0) }
            do throws(CertificateError) { information.lists += try CertificateRevocationList.all(bytes) } catch {
                throw .status(KeychainError(.decode, "\(path): \(error)"))
            }
        }
        for path in responses {
            let bytes = try KeyFileIO.read(path).withUnsafeBytes { Array($0) }
            do throws(CertificateError) { information.responses.append(try OCSPResponse(der: bytes)) } catch {
                throw .status(KeychainError(.decode, "\(path): \(error)"))
            }
        }
        return information
    }
}
