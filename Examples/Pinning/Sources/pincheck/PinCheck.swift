// SPDX-License-Identifier: Apache-2.0

import LatchkeyURLSession

/// Loads a URL, and prints the status of the response, or the number of the error.
@main
struct PinCheck {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 2, let url = URL(string: words[1]) else { fail("usage: pincheck METHOD URL [PIN…]") }
        let refusals = Refusals()
        let delegate: (any URLSessionDelegate)?
        do {
            delegate = try PinningMethod(words[0], pins: Array(words.dropFirst(2)), host: url.host ?? "").delegate(
                refusals)
        } catch { fail("\(error)") }
        let session = URLSession(configuration: .latchkey, delegate: delegate, delegateQueue: nil)
        do {
            let (_, response) = try await session.data(from: url)
            print((response as? HTTPURLResponse)?.statusCode ?? 0, refusals.text)
        } catch {
            let error = error as NSError
            print(error.code, refusals.text.isEmpty ? error.localizedDescription : refusals.text)
        }
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("pincheck: \(reason)\n".utf8))
        exit(2)
    }
}
