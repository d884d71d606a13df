// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LinuxSystem
internal import SecretMemory

/// Fuzzes the wire protocol of daemon and clients: a stream of bytes is cut into frames, and each
/// frame is read as a request and as a response. A message that is read must be equal after it is
/// written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWire(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard count > 0, count < 60_000, let (one, other) = try? Socket.pair(), (try? one.send(bytes)) == count else {
        return 0
    }
    one.finish()
    let channel = FrameChannel(other)
    while let received = try? channel.receive() {
        let frame = received.frame
        if let request = try? NumberedRequest(frame) {
            guard let again = try? NumberedRequest(request.frame()), again.number == request.number,
                again.token == request.token
            else {
                fatalError("a request changes in a round trip, because encoding and decoding differ")
            }
        }
        if let response = try? NumberedResponse(frame) {
            guard let again = try? NumberedResponse(response.frame()), again.number == response.number else {
                fatalError("a response changes in a round trip, because encoding and decoding differ")
            }
        }
    }
    return 0
}
