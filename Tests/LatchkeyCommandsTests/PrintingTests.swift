// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
import SecretMemory
import Testing

/// The format of bytes, passwords and dates (keychain-behaviour §8.3).
@Suite("Printing")
struct PrintingTests {
    @Test(
        "the buffer format",
        arguments: [
            ([], ""),
            (Array("alice".utf8), "\"alice\""),
            (Array("a \"quoted\" ~".utf8), "\"a \"quoted\" ~\""),
            ([0, 0, 1, 0xBB], "0x000001BB "),
            ([0, 0, 0, 0x50], "0x00000050  \"\\000\\000\\000P\""),
            (Array("ä".utf8), "0xC3A4 "),
            (Array("äb".utf8), "0xC3A462  \"\\303\\244b\""),
            (Array("a\\b".utf8), "0x615C62  \"a\\134b\""),
            ([0x5C], "0x5C  \"\\134\""),
            ([0], "0x00 "),
            ([0x7F], "0x7F "),
            ([0x1F, 0x20], "0x1F20  \"\\037 \""),
            (Array("line\n".utf8), "0x6C696E650A  \"line\\012\""),
            (Array("20260101000000Z\0".utf8), "0x32303236303130313030303030305A00  \"20260101000000Z\\000\""),
        ] as [([UInt8], String)])
    func bufferFormat(bytes: [UInt8], text: String) {
        #expect(BufferFormat.text(bytes) == text)
        BufferFormat.secretLine("password: ", SharedSecret(copying: bytes)).withUnsafeBytes {
            #expect(String(decoding: $0, as: UTF8.self) == "password: \(text)\n")
        }
    }

    @Test(
        "a password alone is the text where all of it is printable, else lowercase hexadecimal",
        arguments: [
            ([], "\n"),
            (Array("s3cret \\\"~".utf8), "s3cret \\\"~\n"),
            (Array("pä".utf8), "70c3a4\n"),
            (Array("two\nlines".utf8), "74776f0a6c696e6573\n"),
            ([0], "00\n"), ([0xAB, 0xCD], "abcd\n"),
        ] as [([UInt8], String)])
    func plainPassword(bytes: [UInt8], text: String) {
        PlainPassword.line(SharedSecret(copying: bytes)).withUnsafeBytes {
            #expect(String(decoding: $0, as: UTF8.self) == text)
        }
    }

    @Test(
        "a date is the UTC date and time of its second",
        arguments: [
            (0, "20010101000000Z"), (816_955_200, "20261121120000Z"), (-1, "20001231235959Z"),
            (0.999, "20010101000000Z"),
            (-0.001, "20001231235959Z"), (-978_307_200, "19700101000000Z"), (-26_438_400, "20000301000000Z"),
            (-26_438_401, "20000229235959Z"), (725_857_445, "20240102030405Z"), (3_128_716_799, "21000222235959Z"),
            (252_423_993_599, "99991231235959Z"), (-63_113_904_000, "00010101000000Z"),
        ] as [(Double, String)])
    func dates(seconds: Double, text: String) {
        #expect(TimedateFormat.text(seconds) == text)
    }

    @Test(
        "a date outside of four-digit years has no text",
        arguments: [.nan, .infinity, -.infinity, 1e300, 252_423_993_600, -63_113_904_001] as [Double])
    func noDates(seconds: Double) {
        #expect(TimedateFormat.text(seconds) == nil)
    }

    @Test("the dates of 800 years are consecutive, with the correct lengths of the months")
    func calendar() throws {
        var (year, month, day) = (1601, 1, 1)
        for number in -146_097..<146_097 {
            let text = try #require(TimedateFormat.text(Double(number) * 86400))
            let date = String(year * 10000 + month * 100 + day)
            guard text.dropLast(7) == date else {
                Issue.record("day \(number): \(text) instead of \(date)")
                return
            }
            let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
            let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > length { (day, month) = (1, month + 1) }
            if month > 12 { (month, year) = (1, year + 1) }
        }
    }
}
