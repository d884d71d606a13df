// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing
import TrustedPlatformModule

@Suite("The address of a TPM")
struct TPMAddressTests {
    @Test(
        "An address is read as it is written",
        arguments: [
            ("device:/dev/tpmrm0", TPMAddress.device(path: "/dev/tpmrm0")),
            ("swtpm:path=/run/user/1000/swtpm", .socket(path: "/run/user/1000/swtpm")),
            ("swtpm:port=2321", .port(2321)), ("swtpm:host=127.0.0.1,port=2321", .port(2321)),
            ("swtpm:port=65535,host=localhost", .port(65535)),
        ])
    func read(_ text: String, _ address: TPMAddress) throws {
        #expect(try TPMAddress(text) == address)
        #expect(try TPMAddress("\(address)") == address)
    }

    @Test(
        "Anything else is refused: the library would search for a TPM",
        arguments: [
            "", "device", "device:", "device:tpmrm0", "device:/dev/tpm\0rm0", "tabrmd:", "swtpm:", "swtpm:port=",
            "swtpm:port=0", "swtpm:port=65536", "swtpm:port=-1", "swtpm:host=10.0.0.1,port=2321",
            "swtpm:host=127.0.0.1",
            "swtpm:path=relative", "swtpm:path=/a,port=2", "swtpm:port=1,port=2", "swtpm:port=2321,", "mssim:port=2321",
            "cmd:tpm2_send", "none",
        ])
    func refused(_ text: String) {
        #expect(throws: TPMError.invalidAddress(text)) { try TPMAddress(text) }
    }

    @Test("A place without a TPM is named, and nothing is searched for")
    func missing() throws {
        // A regular file is no device.
        let directory = try TemporaryDirectory()
        try Data("text".utf8).write(to: URL(filePath: "\(directory.path)/file"))
        for text in [
            "device:/dev/tpmrm-none", "device:\(directory.path)/file", "swtpm:path=\(directory.path)/swtpm",
        ] {
            let error = #expect(throws: TPMError.self) {
                try TrustedPlatformModule(try TPMAddress(text)).properties()
            }
            #expect(error == (try? TPMAddress(text)).map { .notFound($0) })
        }
    }
}
