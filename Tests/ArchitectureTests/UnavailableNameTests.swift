// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Names of Apple's headers that are declared to explain why they do not work.
@Suite("Unavailable names")
struct UnavailableNameTests {
    private static let names = [
        "CC_MD2", "CC_MD2_Init", "CC_MD2_Update", "CC_MD2_Final", "CC_MD2_CTX.self", "CC_MD4", "CC_MD4_Init",
        "CC_MD4_Update", "CC_MD4_Final", "CC_MD4_CTX.self", "CC_HMAC_CONTEXT_SIZE", "CCCryptorCreateFromData",
        "kCCContextSizeAES128", "kCCContextSizeDES", "kCCContextSize3DES", "kCCContextSizeCAST", "kCCContextSizeRC4",
    ]

    @Test("For a CommonCrypto name that does not work, the compiler has a reason and a replacement; others compile")
    func sentences() throws {
        let modules = try #require(Bundle.allBundles.compactMap(Self.modules).first ?? Self.modules(Bundle.main))
        let source = FileManager.default.temporaryDirectory.appending(path: "latchkey-unavailable-\(UUID()).swift")
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: source) } }
        let lines = Self.names.map { "_ = \($0)" }
        let others = ["_ = CC_MD2_DIGEST_LENGTH + CC_MD4_DIGEST_LENGTH", "_ = CC_MD5_Init", "_ = kCCWRAPAES"]
        try Data((["import LatchkeyCommonCrypto"] + lines + others).joined(separator: "\n").utf8).write(to: source)
        // The modules of C that the module is built with.
        let ofC = ["\(modules)/../CLatchkey.build", "\(Sources.root.path)/Sources/Foundations/COpenSSL"]
        let places = ([modules] + ofC).flatMap { ["-I", $0] }
        let outcome = try run("/usr/bin/env", ["swiftc", "-typecheck"] + places + [source.path])
        #expect(outcome.status != 0)
        let errors = outcome.errors.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(errors.count == Self.names.count, "\(outcome.errors)")
        for (number, name) in Self.names.enumerated() {
            let error = errors.first { $0.contains("swift:\(number + 2):") } ?? ""
            let pattern = /is unavailable: [A-Za-z].*(; use | does not have it)/
            #expect(error.contains(pattern), "\(name): \(error)")
        }
    }

    /// The directory of the modules that the tests are built with.
    private static func modules(_ bundle: Bundle) -> String? {
        for place in [bundle.bundleURL, bundle.bundleURL.deletingLastPathComponent()] {
            let modules = place.appending(path: "Modules").path
            if FileManager.default.fileExists(atPath: "\(modules)/LatchkeyCommonCrypto.swiftmodule") { return modules }
        }
        return nil
    }
}
