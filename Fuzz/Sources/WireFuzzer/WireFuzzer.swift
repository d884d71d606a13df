// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyProtocol
internal import LinuxSystem
internal import SecretMemory

/// What a daemon reads from any program, and a program from what it takes for a daemon: a stream of bytes, cut into frames, each read as a
/// request and as a response. What is read whole must come back the same.
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
                fatalError("a request does not come back, because its two directions differ")
            }
        }
        if let response = try? NumberedResponse(frame) {
            guard let again = try? NumberedResponse(response.frame()), again.number == response.number else {
                fatalError("a response does not come back, because its two directions differ")
            }
        }
    }
    return 0
}
