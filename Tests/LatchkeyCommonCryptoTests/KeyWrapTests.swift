// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Testing

@Suite("CommonSymmetricKeywrap")
struct KeyWrapTests {
    /// A vector of RFC 3394, section 4: the key encryption key is 0, 1, 2 and so on.
    struct Vector: CustomTestStringConvertible, Sendable {
        let section: String
        let wrappingCount: Int
        let key: String
        let wrapped: String
        var wrapping: [UInt8] { (0..<wrappingCount).map { UInt8($0) } }
        var testDescription: String { section }
    }

    static let vectors = [
        Vector(
            section: "4.1", wrappingCount: 16, key: "00112233445566778899aabbccddeeff",
            wrapped: "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
        Vector(
            section: "4.2", wrappingCount: 24, key: "00112233445566778899aabbccddeeff",
            wrapped: "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
        Vector(
            section: "4.3", wrappingCount: 32, key: "00112233445566778899aabbccddeeff",
            wrapped: "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
        Vector(
            section: "4.4", wrappingCount: 24, key: "00112233445566778899aabbccddeeff0001020304050607",
            wrapped: "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
        Vector(
            section: "4.5", wrappingCount: 32, key: "00112233445566778899aabbccddeeff0001020304050607",
            wrapped: "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
        Vector(
            section: "4.6", wrappingCount: 32, key: "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
            wrapped: "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
    ]

    private static let algorithm = CCWrappingAlgorithm(kCCWRAPAES)

    private typealias Call = (
        CCWrappingAlgorithm, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int,
        UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?
    ) -> Int32

    /// The status and the output of a call.
    private struct Outcome: Equatable {
        var status: Int
        var bytes = ""
        var length = 0
    }

    private func call(
        _ function: Call, _ input: [UInt8], _ wrapping: [UInt8], capacity: Int, initial: [UInt8]? = nil
    ) -> Outcome {
        // A byte more than the function may write.
        var output = [UInt8](repeating: 0x5A, count: capacity + 1)
        var length = capacity
        let status =
            initial.map {
                function(Self.algorithm, $0, $0.count, wrapping, wrapping.count, input, input.count, &output, &length)
            }
            ?? function(
                Self.algorithm, CCrfc3394_iv, CCrfc3394_ivLen, wrapping, wrapping.count, input, input.count, &output,
                &length)
        #expect(output.last == 0x5A)
        let isWritten = Int(status) == kCCSuccess
        if !isWritten { #expect(output.allSatisfy { $0 == 0x5A }, "a failed call has written") }
        return Outcome(
            status: Int(status), bytes: isWritten ? hexadecimal(output.prefix(length)) : "", length: length)
    }

    private func wrap(
        _ key: [UInt8], _ wrapping: [UInt8], capacity: Int? = nil, initial: [UInt8]? = nil
    ) -> Outcome {
        call(CCSymmetricKeyWrap, key, wrapping, capacity: capacity ?? key.count + 8, initial: initial)
    }

    private func unwrap(
        _ wrapped: [UInt8], _ wrapping: [UInt8], capacity: Int? = nil, initial: [UInt8]? = nil
    ) -> Outcome {
        call(CCSymmetricKeyUnwrap, wrapped, wrapping, capacity: capacity ?? max(0, wrapped.count - 8), initial: initial)
    }

    @Test("Keys are wrapped and unwrapped as in the vectors of RFC 3394, section 4", arguments: vectors)
    func rfc3394(_ vector: Vector) {
        let (key, wrapped) = (bytes(vector.key), bytes(vector.wrapped))
        #expect(CCSymmetricWrappedSize(Self.algorithm, key.count) == wrapped.count)
        #expect(CCSymmetricUnwrappedSize(Self.algorithm, wrapped.count) == key.count)
        let expected = Outcome(status: kCCSuccess, bytes: vector.wrapped, length: wrapped.count)
        #expect(wrap(key, vector.wrapping) == expected)
        #expect(wrap(key, vector.wrapping, capacity: 100) == expected)
        let opened = Outcome(status: kCCSuccess, bytes: vector.key, length: key.count)
        #expect(unwrap(wrapped, vector.wrapping) == opened)
        #expect(unwrap(wrapped, vector.wrapping, capacity: 100) == opened)
    }

    @Test("The initial value is that of RFC 3394; null stands for it, and of a longer one the first 8 bytes count")
    func initialValues() {
        let vector = Self.vectors[0]
        #expect((0..<CCrfc3394_ivLen).map { CCrfc3394_iv[$0] } == [UInt8](repeating: 0xA6, count: 8))
        var output = [UInt8](repeating: 0, count: 24)
        var length = 24
        let (key, wrapping) = (bytes(vector.key), vector.wrapping)
        #expect(CCSymmetricKeyWrap(Self.algorithm, nil, 0, wrapping, 16, key, 16, &output, &length) == kCCSuccess)
        #expect(hexadecimal(output) == vector.wrapped && length == 24)
        let long = [UInt8](repeating: 0xA6, count: 8) + [1, 2, 3]
        #expect(wrap(key, wrapping, initial: long).bytes == vector.wrapped)
        #expect(wrap(key, wrapping, initial: [0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6]).status == kCCParamError)
        #expect(unwrap(bytes(vector.wrapped), wrapping, initial: []).status == kCCParamError)
    }

    @Test("A key that is wrapped with another initial value is unwrapped with it only")
    func customInitialValue() {
        let (key, wrapping) = (bytes(Self.vectors[0].key), Self.vectors[0].wrapping)
        let own: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        let wrapped = bytes(wrap(key, wrapping, initial: own).bytes)
        #expect(wrapped.count == 24 && hexadecimal(wrapped) != Self.vectors[0].wrapped)
        #expect(unwrap(wrapped, wrapping, initial: own).bytes == Self.vectors[0].key)
        #expect(unwrap(wrapped, wrapping) == Outcome(status: kCCDecodeError))
        #expect(unwrap(bytes(Self.vectors[0].wrapped), wrapping, initial: own) == Outcome(status: kCCDecodeError))
    }

    @Test("A change of any bit, and another key, are detected, and nothing is written", arguments: vectors)
    func changed(_ vector: Vector) {
        let wrapped = bytes(vector.wrapped)
        for bit in 0..<wrapped.count * 8 {
            var other = wrapped
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(unwrap(other, vector.wrapping) == Outcome(status: kCCDecodeError))
        }
        var wrapping = vector.wrapping
        wrapping[3] ^= 1
        #expect(unwrap(wrapped, wrapping) == Outcome(status: kCCDecodeError))
    }

    @Test("A buffer that is too small gives the required size, and nothing is written", arguments: [0, 8, 15, 16, 23])
    func smallBuffers(_ capacity: Int) {
        let vector = Self.vectors[3]
        #expect(
            wrap(bytes(vector.key), vector.wrapping, capacity: capacity)
                == Outcome(status: kCCBufferTooSmall, length: 32))
        #expect(
            unwrap(bytes(vector.wrapped), vector.wrapping, capacity: capacity)
                == Outcome(status: kCCBufferTooSmall, length: 24))
    }

    @Test("Lengths that cannot be wrapped or unwrapped are refused", arguments: [0, 1, 7, 8, 15, 17, 23])
    func lengths(_ count: Int) {
        let input = [UInt8](repeating: 1, count: count)
        let wrapping = Self.vectors[0].wrapping
        #expect(wrap(input, wrapping) == Outcome(status: kCCParamError))
        #expect(unwrap(input, wrapping) == Outcome(status: kCCDecodeError))
        let key = bytes(Self.vectors[0].key)
        #expect(wrap(key, input) == Outcome(status: kCCParamError))
        #expect(unwrap(bytes(Self.vectors[0].wrapped), input) == Outcome(status: kCCParamError))
        #expect(CCSymmetricWrappedSize(Self.algorithm, count) == count + 8)
        #expect(CCSymmetricUnwrappedSize(Self.algorithm, count) == max(0, count - 8))
    }

    @Test("Null pointers, negative and impossible lengths and other algorithms are refused")
    func parameters() {
        let (key, wrapping) = (bytes(Self.vectors[0].key), Self.vectors[0].wrapping)
        for function in [CCSymmetricKeyWrap, CCSymmetricKeyUnwrap] as [Call] {
            var output = [UInt8](repeating: 0, count: 64)
            func status(_ algorithm: Int, _ wrapping: [UInt8]?, _ key: [UInt8]?, _ count: Int, _ capacity: Int) -> Int {
                var length = capacity
                let status = function(
                    CCWrappingAlgorithm(algorithm), nil, 0, wrapping, 16, key, count, &output, &length)
                #expect(length == 0)
                return Int(status)
            }
            #expect(status(2, wrapping, key, 16, 64) == kCCParamError)
            #expect(status(0, wrapping, key, 16, 64) == kCCParamError)
            #expect(status(kCCWRAPAES, nil, key, 16, 64) == kCCParamError)
            #expect(status(kCCWRAPAES, wrapping, nil, 16, 64) == kCCParamError)
            #expect(status(kCCWRAPAES, wrapping, key, -8, 64) == kCCParamError)
            #expect(status(kCCWRAPAES, wrapping, key, 16, -1) == kCCParamError)
            var length = 64
            #expect(
                function(Self.algorithm, nil, 0, wrapping, 16, key, 16, nil, &length) == kCCParamError && length == 0)
            #expect(function(Self.algorithm, nil, 0, wrapping, 16, key, 16, &output, nil) == kCCParamError)
        }
        #expect(CCSymmetricWrappedSize(Self.algorithm, .max) == 0)
        #expect(CCSymmetricWrappedSize(Self.algorithm, -1) == 0)
        #expect(CCSymmetricUnwrappedSize(Self.algorithm, .min) == 0)
    }

    @Test("The output may be the input, and the pointers may be raw")
    func inPlace() {
        let vector = Self.vectors[5]
        var memory = bytes(vector.key) + [UInt8](repeating: 0, count: 8)
        var length = memory.count
        memory.withUnsafeMutableBytes { memory in
            let start = memory.baseAddress
            vector.wrapping.withUnsafeBytes { wrapping in
                let wrappedStatus = CCSymmetricKeyWrap(
                    Self.algorithm, nil as UnsafeRawPointer?, 0, wrapping.baseAddress, 32, start, 32, start, &length)
                #expect(wrappedStatus == kCCSuccess && hexadecimal(memory) == vector.wrapped)
                let status = CCSymmetricKeyUnwrap(
                    Self.algorithm, nil as UnsafeRawPointer?, 0, wrapping.baseAddress, 32, start, length, start,
                    &length)
                #expect(status == kCCSuccess && hexadecimal(memory.prefix(length)) == vector.key)
            }
        }
    }
}

@Suite("Functions of memory with secrets")
struct SecureMemoryFunctionTests {
    @Test("timingsafe_bcmp is 0 for equal bytes only, wherever they differ")
    func comparison() {
        let one = (0..<70).map { UInt8($0) }
        #expect(timingsafe_bcmp(one, one, 70) == 0)
        for index in one.indices {
            var other = one
            other[index] ^= 0x80
            #expect(timingsafe_bcmp(one, other, 70) == 1)
            #expect(timingsafe_bcmp(one, other, index) == 0)
        }
        #expect(timingsafe_bcmp(nil, nil, 0) == 0 && timingsafe_bcmp(one, nil, 0) == 0)
        #expect(timingsafe_bcmp(one, nil, 1) == 1 && timingsafe_bcmp(one, one, -1) == 1)
    }

    @Test("memset_s sets the permitted bytes, and reports the rest")
    func setting() {
        var memory = [UInt8](repeating: 1, count: 8)
        #expect(memset_s(&memory, 8, 0, 4) == 0 && memory == [0, 0, 0, 0, 1, 1, 1, 1])
        #expect(memset_s(&memory, 8, 0x1FF, 2) == 0 && memory == [0xFF, 0xFF, 0, 0, 1, 1, 1, 1])
        #expect(memset_s(&memory, 6, 7, 9) == 75 && memory == [7, 7, 7, 7, 7, 7, 1, 1])
        #expect(memset_s(nil, 8, 0, 8) == 22 && memset_s(&memory, -1, 0, 1) == 22 && memset_s(&memory, 8, 0, -1) == 22)
        #expect(memory == [7, 7, 7, 7, 7, 7, 1, 1])
    }
}
