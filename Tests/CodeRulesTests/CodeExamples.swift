// SPDX-License-Identifier: Apache-2.0

@testable import CodeRules

extension CodeExample {
    static let all = swift + objectiveC + android + scripts

    private static let swift: [CodeExample] = [
        CodeExample(
            "C01", .swift, bad: #"UserDefaults.standard.set(word, forKey: "password")"#,
            good: #"UserDefaults.standard.set(true, forKey: "hasPassword")"#),
        CodeExample(
            "C01", .swift, bad: #"defaults.setValue(token, forKey: Keys.authToken)"#,
            good: #"cache.set(token, forKey: "authToken")"#),
        CodeExample(
            "C01", .swift, bad: #"struct A { @AppStorage("apiKey") var a = "" }"#,
            good: #"struct A { @AppStorage("fontSize") var a = 1 }"#),
        CodeExample(
            "C02", .swift, bad: "func f() { SecItemDelete(query); let s = SecItemAdd(query, nil) }",
            good:
                "func f() { var s = SecItemUpdate(query, changes); if s == errSecItemNotFound { s = SecItemAdd(query, nil) } }"
        ),
        CodeExample(
            "C03", .swift, bad: "let a = kSecAttrAccessibleAlwaysThisDeviceOnly",
            good: "let a = kSecAttrAccessibleWhenUnlocked"),
        CodeExample(
            "C04", .swift,
            bad: """
                func urlSession(_ s: URLSession, didReceive challenge: URLAuthenticationChallenge, completionHandler: F) {
                    completionHandler(.useCredential, URLCredential(trust: challenge.protectionSpace.serverTrust!))
                }
                """,
            good: """
                func urlSession(_ s: URLSession, didReceive challenge: URLAuthenticationChallenge, completionHandler: F) {
                    let trust = challenge.protectionSpace.serverTrust!
                    guard SecTrustEvaluateWithError(trust, nil) else { return completionHandler(.cancelAuthenticationChallenge, nil) }
                    completionHandler(.useCredential, URLCredential(trust: trust))
                }
                """),
        CodeExample(
            "C05", .swift,
            bad: "func f(_ serverTrust: SecTrust) { SecTrustSetPolicies(serverTrust, SecPolicyCreateBasicX509()) }",
            good: "func f(_ signer: SecCertificate) { g(signer, SecPolicyCreateBasicX509()) }"),
        CodeExample(
            "C06", .swift,
            bad: """
                func urlSession(_ s: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> R {
                    let trust = challenge.protectionSpace.serverTrust!
                    let data = SecCertificateCopyData(SecTrustGetCertificateAtIndex(trust, 0)!) as Data
                    return data == pin ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
                }
                """,
            good: """
                func urlSession(_ s: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> R {
                    let trust = challenge.protectionSpace.serverTrust!
                    guard SecTrustEvaluateWithError(trust, nil) else { return (.cancelAuthenticationChallenge, nil) }
                    let data = SecCertificateCopyData(SecTrustGetCertificateAtIndex(trust, 0)!) as Data
                    return data == pin ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
                }
                """),
        CodeExample(
            "C08", .swift, bad: "let word: [UInt8] = [0x68, 0x75, 0x6E, 0x74, 0x65, 0x72, 0x2D, 0x57, 0x32]",
            good: "let table: [UInt8] = [1, 2, 4, 8, 16, 32, 64, 128, 3]"),
        CodeExample(
            "C08", .swift, bad: #"let key = SymmetricKey(data: Data("correct horse battery".utf8))"#,
            good: "let key = SymmetricKey(size: .bits256)"),
        CodeExample(
            "C09", .swift, bad: "let hash = Insecure.MD5.hash(data: Data(password.utf8))",
            good: "let hash = Insecure.MD5.hash(data: fileContent)"),
        CodeExample(
            "C10", .swift, bad: "let options = CCOptions(kCCOptionECBMode)",
            good: "let options = CCOptions(kCCOptionPKCS7Padding)"),
        CodeExample("C10", .swift, bad: "let iv = [UInt8](repeating: 0, count: 16)", good: "let iv = AES.GCM.Nonce()"),
        CodeExample(
            "C11", .swift, bad: "let a = SecKeyAlgorithm.rsaEncryptionPKCS1",
            good: "let a = SecKeyAlgorithm.rsaEncryptionOAEPSHA256"),
        CodeExample(
            "C12", .swift, bad: #"let field = TextField("Password", text: $word)"#,
            good: #"let field = SecureField("Password", text: $word)"#),
        CodeExample(
            "C12", .swift, bad: "class A { @IBOutlet var passwordField: UITextField! }",
            good:
                "class A { @IBOutlet var passwordField: UITextField!\n func f() { passwordField.isSecureTextEntry = true } }"
        ),
        CodeExample(
            "C13", .swift, bad: "class AppDelegate: UIResponder, UIApplicationDelegate { var window: UIWindow? }",
            good:
                "class AppDelegate: UIResponder, UIApplicationDelegate { func applicationWillResignActive(_ a: UIApplication) { cover() } }"
        ),
        CodeExample(
            "C14", .swift, bad: #"let isOpen = FileManager.default.fileExists(atPath: "/Applications/Cydia.app")"#,
            good: #"let exists = FileManager.default.fileExists(atPath: "/etc/hosts")"#),
        CodeExample(
            "C15", .swift, bad: "func f() { SecItemAdd(query, nil)\n g() }",
            good: "func f() -> OSStatus { SecItemAdd(query, nil) }"),
        CodeExample(
            "C15", .swift, bad: "func f() { _ = SecItemDelete(query) }",
            good: "func f() { let status = SecItemDelete(query); g(status) }"),
    ]

    private static let objectiveC: [CodeExample] = [
        CodeExample(
            "C01", .objectiveC, bad: #"[[NSUserDefaults standardUserDefaults] setObject:word forKey:@"password"];"#,
            good: #"[[NSUserDefaults standardUserDefaults] setBool:YES forKey:@"seen"];"#),
        CodeExample(
            "C02", .objectiveC, bad: "OSStatus s = SecItemDelete(q);\ns = SecItemAdd(q, NULL);",
            good: "OSStatus s = SecItemUpdate(q, c);\nif (s == errSecItemNotFound) s = SecItemAdd(q, NULL);"),
        CodeExample(
            "C03", .objectiveC, bad: "id a = (__bridge id)kSecAttrAccessibleAlways;",
            good: "id a = (__bridge id)kSecAttrAccessibleWhenUnlocked;"),
        CodeExample(
            "C04", .objectiveC,
            bad: "SecTrustRef t = space.serverTrust;\nhandler(NSURLSessionAuthChallengeUseCredential, c);",
            good:
                "SecTrustRef t = space.serverTrust;\nif (SecTrustEvaluateWithError(t, NULL))\nhandler(NSURLSessionAuthChallengeUseCredential, c);"
        ),
        CodeExample(
            "C05", .objectiveC,
            bad: "SecPolicyRef p = SecPolicyCreateBasicX509();\nSecTrustSetPolicies(space.serverTrust, p);",
            good: "SecPolicyRef p = SecPolicyCreateBasicX509();\ncheck(signer, p);"),
        CodeExample(
            "C06", .objectiveC,
            bad:
                "SecTrustRef t = space.serverTrust;\nNSData *d = SecCertificateCopyData(SecTrustGetCertificateAtIndex(t, 0));\nif ([d isEqual:pin]) handler(NSURLSessionAuthChallengeUseCredential, c);",
            good:
                "SecTrustRef t = space.serverTrust;\nif (!SecTrustEvaluateWithError(t, NULL)) return;\nNSData *d = SecCertificateCopyData(SecTrustGetCertificateAtIndex(t, 0));\nif ([d isEqual:pin]) handler(NSURLSessionAuthChallengeUseCredential, c);"
        ),
        CodeExample(
            "C08", .objectiveC, bad: "static const char w[] = {0x68, 0x75, 0x6E, 0x74, 0x65, 0x72, 0x2D, 0x57, 0x32};",
            good: "static const int t[] = {1, 2, 4, 8, 16, 32, 64, 128, 3};"),
        CodeExample(
            "C09", .objectiveC, bad: "CC_MD5(password.UTF8String, n, out);", good: "CC_MD5(file.bytes, n, out);"),
        CodeExample(
            "C10", .objectiveC, bad: "CCCrypt(kCCEncrypt, kCCAlgorithmAES, kCCOptionECBMode, k, 16, NULL);",
            good: "CCCrypt(kCCEncrypt, kCCAlgorithmAES, kCCOptionPKCS7Padding, k, 16, v);"),
        CodeExample(
            "C10", .objectiveC, bad: "NSString *salt = @\"a fixed salt\";",
            good: "NSData *salt = [self randomBytes:16];"),
        CodeExample(
            "C11", .objectiveC, bad: "SecKeyAlgorithm a = kSecKeyAlgorithmRSAEncryptionPKCS1;",
            good: "SecKeyAlgorithm a = kSecKeyAlgorithmRSAEncryptionOAEPSHA256;"),
        CodeExample(
            "C12", .objectiveC, bad: "@property UITextField *password;",
            good: "@property UITextField *password;\nself.password.secureTextEntry = YES;"),
        CodeExample(
            "C13", .objectiveC, bad: "@interface AppDelegate : UIResponder <UIApplicationDelegate>\n@end",
            good:
                "@interface AppDelegate : UIResponder <UIApplicationDelegate>\n@end\n- (void)applicationWillResignActive:(UIApplication *)a {}"
        ),
        CodeExample(
            "C14", .objectiveC, bad: #"if ([manager fileExistsAtPath:@"/Applications/Cydia.app"]) return YES;"#,
            good: #"if ([manager fileExistsAtPath:@"/etc/hosts"]) return YES;"#),
        CodeExample("C15", .objectiveC, bad: "    SecItemAdd(q, NULL);", good: "    OSStatus s = SecItemAdd(q, NULL);"),
    ]

    private static let android: [CodeExample] = [CodeLanguage.kotlin, .java].flatMap { language in
        [
            CodeExample(
                "C01", language, bad: #"editor.putString("password", word)"#, good: #"editor.putString("theme", name)"#),
            CodeExample(
                "C04", language, bad: "client.setHostnameVerifier(ALLOW_ALL_HOSTNAME_VERIFIER)",
                good: "client.setHostnameVerifier(verifier)"),
            CodeExample(
                "C08", language, bad: #"key = new SecretKeySpec("0123456789abcdef".getBytes(), "AES")"#,
                good: #"key = SecretKeySpec(derived, "AES")"#),
            CodeExample(
                "C08", language, bad: "w = {0x68, 0x75, 0x6E, 0x74, 0x65, 0x72, 0x2D, 0x57, 0x32}",
                good: "t = {1, 2, 4, 8, 16, 32, 64, 128, 3}"),
            CodeExample(
                "C09", language, bad: #"d = MessageDigest.getInstance("MD5").digest(password.bytes)"#,
                good: #"d = MessageDigest.getInstance("SHA-256").digest(password.bytes)"#),
            CodeExample(
                "C10", language, bad: #"c = Cipher.getInstance("AES/ECB/PKCS5Padding")"#,
                good: #"c = Cipher.getInstance("AES/GCM/NoPadding")"#),
            CodeExample(
                "C10", language, bad: #"byte[] iv = "1234567890123456".getBytes()"#, good: "byte[] iv = randomBytes(16)"
            ),
            CodeExample(
                "C11", language, bad: #"c = Cipher.getInstance("RSA/ECB/PKCS1Padding")"#,
                good: #"c = Cipher.getInstance("RSA/ECB/OAEPWithSHA-256AndMGF1Padding")"#),
            CodeExample(
                "C13", language, bad: "class LoginActivity : Activity",
                good: "class LoginActivity : Activity\nwindow.addFlags(FLAG_SECURE)"),
            CodeExample(
                "C14", language, bad: #"found = File("/system/xbin/su").exists()"#,
                good: #"found = File("/system/fonts").exists()"#),
        ]
    }

    private static let scripts: [CodeExample] =
        [
            CodeExample(
                "C01", .javaScript, bad: "localStorage.setItem('authToken', t)",
                good: "localStorage.setItem('theme', t)"),
            CodeExample(
                "C04", .javaScript, bad: "const a = { rejectUnauthorized: false }",
                good: "const a = { rejectUnauthorized: true }"),
            CodeExample("C04", .python, bad: "requests.get(u, verify=False)", good: "requests.get(u, verify=bundle)"),
            CodeExample(
                "C04", .go, bad: "c := &tls.Config{InsecureSkipVerify: true}", good: "c := &tls.Config{RootCAs: pool}"),
            CodeExample(
                "C07", .xml, bad: "<key>NSAllowsArbitraryLoads</key>\n<true/>",
                good: "<key>NSAllowsLocalNetworking</key>\n<true/>\n<key>NSAllowsArbitraryLoads</key>\n<false/>"),
            CodeExample(
                "C12", .xml, bad: #"<EditText android:id="@+id/password" />"#,
                good: #"<EditText android:id="@+id/password" android:inputType="textPassword" />"#),
        ]
        + [
            (CodeLanguage.javaScript, "createHash('md5').update(password)", "createHash('md5').update(file)"),
            (.python, "hashlib.md5(password.encode())", "hashlib.md5(block)"),
            (.go, "h := md5.Sum([]byte(password))", "h := md5.Sum(block)"),
        ].map { CodeExample("C09", $0.0, bad: $0.1, good: $0.2) }
        + [
            (
                CodeLanguage.javaScript, "createCipheriv('aes-128-ecb', key, null)",
                "createCipheriv('aes-128-gcm', key, iv)"
            ),
            (.javaScript, "const iv = Buffer.alloc(16)", "const iv = randomBytes(16)"),
            (.python, "iv = b'0123456789abcdef'", "iv = os.urandom(16)"),
            (.python, "c = AES.new(key, AES.MODE_ECB)", "c = AES.new(key, AES.MODE_GCM)"),
            (.go, "salt := []byte(\"a fixed salt\")", "salt := random(16)"),
        ].map { CodeExample("C10", $0.0, bad: $0.1, good: $0.2) }
        + [
            (
                CodeLanguage.javaScript, "padding: constants.RSA_PKCS1_PADDING",
                "padding: constants.RSA_PKCS1_OAEP_PADDING"
            ),
            (.python, "c = PKCS1_v1_5.new(key)", "c = PKCS1_OAEP.new(key)"),
            (.go, "rsa.EncryptPKCS1v15(r, k, m)", "rsa.EncryptOAEP(h, r, k, m, nil)"),
        ].map { CodeExample("C11", $0.0, bad: $0.1, good: $0.2) }
        + [CodeLanguage.javaScript, .python, .go].map { language in
            CodeExample(
                "C08", language, bad: "w = [0x68, 0x75, 0x6E, 0x74, 0x65, 0x72, 0x2D, 0x57, 0x32]",
                good: "t = [1, 2, 4, 8, 16, 32, 64, 128, 3]")
        }
}
