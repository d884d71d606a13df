// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security

/// Accepts the server whose certificate is in the app's bundle.
final class NetworkManager: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let serverTrust = challenge.protectionSpace.serverTrust,
            let serverCertificate = SecTrustGetCertificateAtIndex(serverTrust, 0),
            let pinned = Bundle.main.url(forResource: "server", withExtension: "cer"),
            let pinnedData = try? Data(contentsOf: pinned)
        else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        if SecCertificateCopyData(serverCertificate) as Data == pinnedData {
            completionHandler(.useCredential, URLCredential(trust: serverTrust))
        } else {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}

guard let url = URL(string: CommandLine.arguments[1]) else { exit(2) }
let session = URLSession(configuration: .default, delegate: NetworkManager(), delegateQueue: nil)
do {
    let (data, _) = try await session.data(from: url)
    print("loaded \(data.count > 0)")
} catch { print("refused \((error as NSError).code)") }
