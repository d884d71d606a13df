// SPDX-License-Identifier: Apache-2.0

import CodeRules
import Testing

/// Code in the shapes that articles about the keychain of iOS show, and the findings in it.
@Suite("Code in the shape of articles")
struct DocumentSnippetTests {
    struct Snippet: Sendable, CustomStringConvertible {
        let title: String
        let file: String
        let rules: [String]
        let code: String

        init(_ title: String, in file: String = "a.swift", _ rules: [String], _ code: String) {
            (self.title, self.file, self.rules, self.code) = (title, file, rules, code)
        }

        var description: String { title }
    }

    @Test("Each snippet gives exactly these findings", arguments: swift + others)
    func findings(_ snippet: Snippet) {
        let report = CodeScanner.scan(Array(snippet.code.utf8), name: snippet.file)
        #expect(report.findings.map(\.rule.id) == snippet.rules && report.problems.isEmpty)
    }

    private static let swift: [Snippet] = [
        Snippet(
            "preferences", ["C01"],
            """
            UserDefaults.standard.set(passwordField.text, forKey: "password")
            let stored = UserDefaults.standard.string(forKey: "password")
            """),
        Snippet(
            "base64 in preferences", ["C01"],
            """
            let encoded = Data(word.utf8).base64EncodedString()
            UserDefaults.standard.set(encoded, forKey: "userPassword")
            """),
        Snippet(
            "save by deletion", ["C02", "C15"],
            """
            func savePassword(_ word: String, for account: String) -> Bool {
                let query: [String: Any] = [
                    kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
                    kSecValueData as String: Data(word.utf8),
                ]
                SecItemDelete(query as CFDictionary)
                return SecItemAdd(query as CFDictionary, nil) == errSecSuccess
            }
            """),
        Snippet(
            "helper that throws", [],
            """
            static func save(service: String, account: String, data: Data) throws {
                let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
                let status = SecItemAdd(query as CFDictionary, nil)
                guard status != errSecDuplicateItem else { throw KeychainError.duplicateItem }
                guard status == errSecSuccess else { throw KeychainError.unknown(status) }
            }
            """),
        Snippet("accessible always", ["C03"], "query[kSecAttrAccessible as String] = kSecAttrAccessibleAlways"),
        Snippet(
            "pinned certificate", ["C06"],
            """
            func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                guard let serverTrust = challenge.protectionSpace.serverTrust,
                    let certificate = SecTrustGetCertificateAtIndex(serverTrust, 0)
                else { return completionHandler(.cancelAuthenticationChallenge, nil) }
                if SecCertificateCopyData(certificate) as Data == pinned {
                    completionHandler(.useCredential, URLCredential(trust: serverTrust))
                } else {
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
            """),
        Snippet(
            "pinned key of an evaluated chain", [],
            """
            func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
            ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
                guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil),
                    let key = SecTrustCopyKey(trust), pins.contains(hash(of: key))
                else { return (.cancelAuthenticationChallenge, nil) }
                return (.useCredential, URLCredential(trust: trust))
            }
            """),
        Snippet(
            "a key as bytes", ["C08"],
            "let secret: [UInt8] = [0x6D, 0x79, 0x2D, 0x61, 0x70, 0x69, 0x2D, 0x6B, 0x65, 0x79, 0x2D, 0x31]"),
        Snippet("a key as text", ["C08"], #"private let encryptionKey = Data("my secret key 16".utf8)"#),
        Snippet(
            "asymmetric encryption", ["C11"],
            """
            let algorithm: SecKeyAlgorithm = .rsaEncryptionPKCS1
            guard SecKeyIsAlgorithmSupported(publicKey, .encrypt, .rsaEncryptionOAEPSHA512) else { return }
            """),
        Snippet("secure field", [], #"SecureField("Password", text: $password).textContentType(.password)"#),
        Snippet("visible field", ["C12"], #"TextField("Password", text: $password).disableAutocorrection(true)"#),
        Snippet(
            "jailbreak", ["C14"],
            """
            let paths = ["/Applications/Cydia.app", "/bin/bash"]
            return FileManager.default.fileExists(atPath: "/Applications/Cydia.app")
            """),
    ]

    private static let others: [Snippet] = [
        Snippet(
            "App Transport Security", in: "Info.plist", ["C07"],
            """
            <key>NSAppTransportSecurity</key>
            <dict>
                <key>NSAllowsArbitraryLoads</key>
                <true/>
            </dict>
            """),
        Snippet(
            "an exception for one host", in: "Info.plist", [],
            """
            <key>NSExceptionDomains</key>
            <dict>
                <key>old.example.com</key>
                <dict>
                    <key>NSExceptionMinimumTLSVersion</key>
                    <string>TLSv1.1</string>
                </dict>
            </dict>
            """),
        Snippet(
            "any server", in: "a.m", ["C04"],
            """
            - (void)URLSession:(NSURLSession *)session didReceiveChallenge:(NSURLAuthenticationChallenge *)challenge
                completionHandler:(Handler)completionHandler {
                NSURLCredential *credential =
                    [NSURLCredential credentialForTrust:challenge.protectionSpace.serverTrust];
                completionHandler(NSURLSessionAuthChallengeUseCredential, credential);
            }
            """),
        Snippet(
            "no name of the server", in: "a.m", ["C05"],
            """
            SecTrustRef serverTrust = challenge.protectionSpace.serverTrust;
            NSMutableArray *policies = [NSMutableArray array];
            [policies addObject:(__bridge_transfer id)SecPolicyCreateBasicX509()];
            SecTrustSetPolicies(serverTrust, (__bridge CFArrayRef)policies);
            """),
        Snippet(
            "salted MD5", in: "a.m", ["C09"],
            """
            const char *text = [[password stringByAppendingString:word] UTF8String];
            unsigned char digest[CC_MD5_DIGEST_LENGTH];
            CC_MD5(password.UTF8String, (CC_LONG)strlen(text), digest);
            """),
        Snippet(
            "a field with autocorrection", in: "a.m", ["C12"],
            "@property (nonatomic, strong) UITextField *password;\n"),
        Snippet(
            "a secure field", in: "a.m", [],
            """
            UITextField *password = [[UITextField alloc] init];
            password.autocorrectionType = UITextAutocorrectionTypeNo;
            password.secureTextEntry = YES;
            """),
        Snippet(
            "a cover", in: "AppDelegate.m", [],
            """
            @interface AppDelegate : UIResponder <UIApplicationDelegate>
            @end
            @implementation AppDelegate
            - (void)applicationWillResignActive:(UIApplication *)application {
                [self.window addSubview:self.cover];
            }
            - (void)applicationDidEnterBackground:(UIApplication *)application {
                self.window.hidden = YES;
            }
            @end
            """),
        Snippet(
            "an archive", in: "a.m", [],
            """
            NSMutableData *data = [NSMutableData data];
            NSKeyedArchiver *archiver = [[NSKeyedArchiver alloc] initForWritingWithMutableData:data];
            [archiver encodeCGPoint:point forKey:@"point"];
            [archiver finishEncoding];
            """),
    ]
}
