// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import ThrowAwayKeychain
import XCTest

#if swift(>=6)
    @testable import HelpersSwift6
#else
    @testable import HelpersSwift5
#endif

final class RSAHelperTests: XCTestCase {
    private let tag = "com.example." + UUID().uuidString
    private let message = Data("a letter".utf8)

    override func setUp() {
        super.setUp()
        useThrowAwayKeychain()
    }

    func testKeyIsMadeOnceAndFoundAgain() throws {
        let first = try RSAHelper(tag: tag).exportedPublicKey()
        XCTAssertEqual(try RSAHelper(tag: tag).exportedPublicKey(), first)
        XCTAssertNotEqual(try RSAHelper(tag: tag + ".other").exportedPublicKey(), first)
    }

    func testWhatOneSealsTheOtherOpens() throws {
        for algorithm: SecKeyAlgorithm in [.rsaEncryptionOAEPSHA256, .rsaEncryptionOAEPSHA1, .rsaEncryptionPKCS1] {
            let sealed = try RSAHelper(tag: tag, algorithm: algorithm).encrypt(message)
            XCTAssertEqual(sealed.count, 256)
            XCTAssertEqual(try RSAHelper(tag: tag, algorithm: algorithm).decrypt(sealed), message)
        }
    }

    func testChangedCiphertextIsAnError() throws {
        let helper = RSAHelper(tag: tag)
        var sealed = try helper.encrypt(message)
        sealed[100] ^= 1
        XCTAssertThrowsError(try helper.decrypt(sealed))
    }

    func testSignatureIsOfItsMessageOnly() throws {
        let helper = RSAHelper(tag: tag)
        let signature = try helper.sign(message)
        XCTAssertTrue(try helper.verify(signature, of: message))
        XCTAssertFalse(try helper.verify(signature, of: Data("another letter".utf8)))
    }

    func testAfterDeletionThereIsAnotherKey() throws {
        let helper = RSAHelper(tag: tag)
        let sealed = try helper.encrypt(message)
        try helper.deleteKeys()
        XCTAssertThrowsError(try helper.decrypt(sealed))
    }
}
