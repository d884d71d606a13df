// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

guard let url = URL(string: CommandLine.arguments[1]), let host = url.host, let port = url.port else { exit(2) }
let space = URLProtectionSpace(
    host: host, port: port, protocol: "https", realm: "mail",
    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
let credential = URLCredential(user: "me", password: "s3cret", persistence: .forSession)
URLCredentialStorage.shared.setDefaultCredential(credential, for: space)

let configuration = URLSessionConfiguration.default
configuration.urlCredentialStorage = URLCredentialStorage.shared
let (data, response) = try await URLSession(configuration: configuration).data(from: url)
print((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
