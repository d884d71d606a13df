// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import XCTest

final class LedgerTests: XCTestCase {
    private var directory: URL!
    private var ledger: Ledger!

    override func setUpWithError() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID())")
        ledger = try Ledger(directory: directory)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

    /// The bytes on the disk, without a call that a linker can redirect.
    private func bytes(_ page: String) -> [UInt8] {
        guard let file = fopen(directory.appendingPathComponent(page).path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }

    func testBytes() throws {
        try ledger.write(["one", "two", "é"], to: "a")
        XCTAssertEqual(bytes("a"), Array("one\ntwo\né\n".utf8))
        try ledger.write(["three"], to: "a", atomically: false)
        XCTAssertEqual(bytes("a"), Array("three\n".utf8))
        try ledger.append("four", to: "a")
        XCTAssertEqual(bytes("a"), Array("three\nfour\n".utf8))
        XCTAssertEqual(try ledger.lines(of: "a"), ["three", "four"])
        XCTAssertEqual(try ledger.start(of: "a", count: 3), Data("thr".utf8))
        let mask = umask(0)
        umask(mask)
        XCTAssertEqual(try ledger.mode(of: "a"), Int(0o666 & ~mask))
    }

    func testPages() throws {
        try ledger.write(["one"], to: "a")
        try ledger.copy("a", to: "b")
        XCTAssertEqual(try ledger.pages(), ["a", "b"])
        XCTAssertEqual(bytes("a"), bytes("b"))
        XCTAssertThrowsError(try ledger.copy("a", to: "b")) { error in
            XCTAssertEqual((error as? CocoaError)?.code, .fileWriteFileExists)
        }
        XCTAssertThrowsError(try ledger.lines(of: "c")) { error in
            XCTAssertEqual((error as? CocoaError)?.code, .fileReadNoSuchFile)
        }
        XCTAssertThrowsError(try ledger.append("x", to: "c"))
    }

    /// The server answers with the method, the path, the type and the body of the request.
    func testServer() async throws {
        let text = try XCTUnwrap(ProcessInfo.processInfo.environment["LEDGER_SERVER"])
        let server = try XCTUnwrap(URL(string: text)).appendingPathComponent("ledger/1")
        try ledger.write((1...1000).map { "line \($0)" }, to: "a")
        let answer = try await ledger.send("a", to: server)
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(answer.body, Data("POST /ledger/1 text/x-ledger\n".utf8) + Data(bytes("a")))
    }
}
