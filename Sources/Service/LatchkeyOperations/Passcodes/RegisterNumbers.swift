// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyProtocol

/// The numbers of PCRs on the wire: in ascending order, each once.
enum RegisterNumbers {
    static func encode(_ numbers: Set<UInt8>) -> [UInt32] { numbers.sorted().map(UInt32.init) }

    static func decode(_ wire: [UInt32]) throws(WireError) -> Set<UInt8> {
        var numbers: Set<UInt8> = []
        var last: UInt8?
        for value in wire {
            guard let number = UInt8(exactly: value), last.map({ $0 < number }) ?? true else {
                throw .malformed("the numbers of PCRs are not ascending bytes")
            }
            numbers.insert(number)
            last = number
        }
        return numbers
    }
}
