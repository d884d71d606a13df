// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
import LinuxSystem
import Testing

/// The streams of Fuzz/Corpus/wire: one of each message, and the fuzzer's finds that take another
/// path. Each is read as by a daemon and as by a client: nothing traps, and a message that was
/// decoded is the same after encoding and decoding.
@Suite("Fuzzer's corpus")
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus/wire")
        .standardized

    @Test("Every stream of the corpus is read without a trap, and there are valid and invalid streams")
    func replay() throws {
        var (requests, responses, refusals) = (0, 0, 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
            let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            let (one, other) = try Socket.pair()
            #expect(try bytes.withUnsafeBytes { try one.send($0) } == bytes.count)
            one.finish()
            let channel = FrameChannel(other)
            do {
                while let frame = try channel.receive()?.frame {
                    if let request = try? NumberedRequest(frame) {
                        requests += 1
                        let again = try request.frame()
                        #expect(try NumberedRequest(again).number == request.number, "\(name)")
                        if name.hasPrefix("request-") { expectSameContent(again, frame, name) }
                    }
                    if let response = try? NumberedResponse(frame) {
                        responses += 1
                        let again = try response.frame()
                        #expect(try NumberedResponse(again).number == response.number, "\(name)")
                        if name.hasPrefix("response-") { expectSameContent(again, frame, name) }
                    }
                }
            } catch {
                refusals += 1
            }
        }
        #expect(
            requests > 30 && responses > 20 && refusals > 10,
            "\(requests) requests, \(responses) responses, \(refusals) refusals")
    }

    /// Compares the frame of a released version with its new encoding. The order of attributes is
    /// not defined, so that the bytes are compared without regard to order.
    private func expectSameContent(_ new: Frame, _ released: Frame, _ name: String) {
        #expect(new.message.sorted() == released.message.sorted(), "\(name)")
        #expect(new.secrets.count == released.secrets.count, "\(name)")
    }

    /// Writes the seeds of the fuzzer: one of each message.
    @Test(
        "Seeds are written on request",
        .enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_RECORD_CORPUS"] == "1", "only to record new ones"))
    func record() throws {
        var frames: [(String, Frame)] = []
        for (index, request) in Samples.requests.enumerated() {
            frames.append(("request-\(index)", try Samples.numbered(request).frame()))
        }
        for (index, response) in Samples.responses.enumerated() {
            frames.append(("response-\(index)", try NumberedResponse(number: 1, response).frame()))
        }
        for (name, frame) in frames {
            let (one, other) = try Socket.pair()
            try FrameChannel(one).send(frame)
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = try buffer.withUnsafeMutableBytes { try other.receive(into: $0) }
            try Data(buffer.prefix(count)).write(to: Self.folder.appending(path: name))
        }
    }
}
