// SPDX-License-Identifier: Apache-2.0

extension SystemAnchors {
    /// The CRLs in the anchor directories, in files named as by `openssl rehash` (`1a2b3c4d.r0`);
    /// read again when a file changes.
    public func revocationLists() -> RevocationInformation {
        let files = locations().directories.flatMap(Self.files(in:)).filter { file in
            guard let end = file.split(separator: ".").last, end.first == "r" else { return false }
            return end.count > 1 && end.dropFirst().allSatisfy(\.isNumber)
        }
        return listReading.value(of: files) { files in
            var information = RevocationInformation()
            for file in files {
                do throws(CertificateError) {
                    let bytes = try Self.contents(of: file, atMost: CertificateRevocationList.maxLength)
                    let (lists, errors) = CertificateRevocationList.parse(bytes)
                    information.lists += lists
                    information.errors += errors.map { "\(file): \($0)" }
                } catch {
                    information.errors.append("\(file): \(error)")
                }
            }
            return information
        }
    }
}
