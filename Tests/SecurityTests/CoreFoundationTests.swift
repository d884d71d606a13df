// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Code written for Apple's platforms, unchanged: casts, type identifiers, lookups, and the parts
/// that Foundation on Linux lacks.
@Suite("Core Foundation")
struct CoreFoundationTests {
    // MARK: Casts and lookups

    @Test("a query converts to a CFDictionary and back")
    func casts() {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: "me",
            kSecReturnData as String: kCFBooleanTrue!,
            kSecReturnAttributes as String: kCFBooleanTrue as Any,
        ]
        let dictionary = query as CFDictionary
        #expect(dictionary[kSecClass] as? String == "genp")
        #expect((dictionary as? [CFString: Any])?[kSecAttrAccount] as? String == "me")
        #expect((dictionary as? [String: Any])?["r_Data"] as? Bool == true)

        let typed: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrIsPermanent: true]
        #expect((typed as CFDictionary)["class"] as? String == "keys")
    }

    @Test("an attribute with an AnyHashable key is found by constant and by string")
    func anyHashable() {
        let byString: [AnyHashable: Any] = ["acct": 1]
        #expect(byString[kSecAttrAccount] as? Int == 1)
        #expect(byString[AnyHashable(kSecAttrAccount)] as? Int == 1)

        let byConstant: [AnyHashable: Any] = [kSecAttrAccount: 1]
        #expect(byConstant["acct"] as? Int == 1)
        #expect((byConstant as? [String: Any])?["acct"] as? Int == 1)

        #expect(AnyHashable(kSecAttrAccount) == AnyHashable("acct"))
        #expect(AnyHashable(kSecAttrAccount).hashValue == AnyHashable("acct").hashValue)
    }

    @Test("a result can be force-cast, as after a search")
    func forcedCasts() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        let result: CFTypeRef? = control
        #expect((result as! SecAccessControl) === control)
        #expect((result as! SecAccessControl?) === control)
        #expect((([control] as CFArray) as? [SecAccessControl])?.first === control)
        #expect(CFGetTypeID(result) == SecAccessControlGetTypeID())
    }

    // MARK: Type numbers

    @Test("each kind of object has its type identifier", arguments: Kind.allCases)
    func typeNumbers(kind: Kind) {
        for object in kind.objects {
            #expect(CFGetTypeID(object) == kind.typeID, "\(type(of: object))")
            #expect(CFGetTypeID(object as AnyObject) == kind.typeID, "\(type(of: object)) as AnyObject")
        }
    }

    @Test("a value that is not a Core Foundation object has the type identifier 0")
    func unknownTypes() {
        #expect(CFGetTypeID(nil) == 0)
        #expect(CFGetTypeID(NSObject()) == 0)
        #expect(CFGetTypeID((1, "one")) == 0)
        #expect(CFGetTypeID(CFArrayGetCount) == 0)
    }

    @Test("all type identifiers are different, and none equals 0")
    func distinctTypeNumbers() {
        let numbers =
            Kind.allCases.map(\.typeID) + [
                CFUUIDGetTypeID(), CFLocaleGetTypeID(), CFTimeZoneGetTypeID(), CFAllocatorGetTypeID(),
                SecKeyGetTypeID(),
                SecCertificateGetTypeID(), SecIdentityGetTypeID(), SecTrustGetTypeID(), SecPolicyGetTypeID(),
            ]
        #expect(Set(numbers).count == numbers.count)
        #expect(!numbers.contains(0))
    }

    // MARK: Equality

    @Test("objects of one type are compared by content, objects of two types are never equal")
    func equality() {
        #expect(CFEqual("ak", kSecAttrAccessibleWhenUnlocked))
        #expect(CFHash("ak") == CFHash(kSecAttrAccessibleWhenUnlocked))
        #expect(CFEqual(1, 1.0))
        #expect(CFEqual(kCFBooleanTrue, true))
        #expect(!CFEqual(true, 1))
        #expect(!CFEqual("a", Data("a".utf8)))
        #expect(CFEqual([1, 2], [1, 2] as CFArray))
        #expect(CFEqual(nil, nil))
        #expect(!CFEqual(nil, "a"))
    }

    // MARK: Errors

    @Test("an error can be created, and its parts can be read")
    func errors() throws {
        let error = try #require(
            CFErrorCreate(
                nil, kCFErrorDomainOSStatus, CFIndex(errSecParam), [NSLocalizedDescriptionKey: "wrong"] as CFDictionary)
        )
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == -50)
        #expect(CFErrorCopyDescription(error) as String == "wrong")
        #expect(
            (CFErrorCopyUserInfo(error) as? [String: Any])?[kCFErrorLocalizedDescriptionKey as String] as? String
                == "wrong")
        #expect {
            throw error
        } throws: { thrown in
            thrown as NSError === error
        }
    }

    @Test("NSError() is an error without a domain")
    func emptyError() {
        #expect(NSError().code == 0)
        #expect(NSError().domain.isEmpty)
    }

    // MARK: Data

    @Test("data is created from bytes and read through a pointer")
    func data() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let data = try #require(CFDataCreate(nil, bytes, bytes.count))
        #expect(CFDataGetLength(data) == 3)
        #expect(Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: 3)) == bytes)

        bytes.withUnsafeBufferPointer { buffer in
            let view = CFDataCreateWithBytesNoCopy(nil, buffer.baseAddress, buffer.count, kCFAllocatorNull)
            #expect(CFDataGetBytePtr(view) == buffer.baseAddress)
        }

        let growing = try #require(CFDataCreateMutable(kCFAllocatorDefault, 0))
        CFDataAppendBytes(growing, bytes, bytes.count)
        CFDataSetLength(growing, 4)
        CFDataGetMutableBytePtr(growing)[3] = 4
        #expect(growing as Data == Data([1, 2, 3, 4]))
    }

    @Test("invalid arguments give nil instead of data")
    func impossibleData() {
        #expect(CFDataCreate(nil, nil, 1) == nil)
        #expect(CFDataCreate(nil, [1], -1) == nil)
        #expect(CFDataCreateWithBytesNoCopy(nil, nil, 1, nil) == nil)
        #expect(CFDataCreateMutable(nil, -1) == nil)
        #expect(CFDataGetLength(nil) == 0)
        #expect(CFDataGetBytePtr(nil) == nil)
    }

    // MARK: Collections

    @Test("an array returns pointers to its elements, and nil outside its bounds")
    func arrays() throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        let array = [control, "text"] as CFArray
        #expect(CFArrayGetCount(array) == 2)
        #expect(
            Unmanaged<SecAccessControl>.fromOpaque(CFArrayGetValueAtIndex(array, 0)).takeUnretainedValue() === control)
        #expect(unsafeBitCast(CFArrayGetValueAtIndex(array, 1), to: CFString.self) == "text")
        #expect(CFArrayGetValueAtIndex(array, 2) == nil)
        #expect(CFArrayGetValueAtIndex(array, -1) == nil)
        #expect(CFArrayGetValueAtIndex(nil, 0) == nil)
    }

    @Test("a dictionary returns a pointer to the value for a key, and nil if there is none")
    func dictionaries() throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        let dictionary = [kSecImportItemIdentity: control] as CFDictionary
        let pointer = CFDictionaryGetValue(dictionary, Unmanaged.passUnretained(kSecImportItemIdentity).toOpaque())
        #expect(pointer == UnsafeRawPointer(Unmanaged.passUnretained(control).toOpaque()))
        #expect(CFDictionaryGetValue(dictionary, Unmanaged.passUnretained(kSecImportItemTrust).toOpaque()) == nil)
        #expect(CFDictionaryGetValue(dictionary, nil) == nil)
    }

    // MARK: Gaps of Foundation on Linux

    @Test("NSMutableDictionary sets and removes values with setValue")
    func setValue() {
        let dictionary = NSMutableDictionary()
        dictionary.setValue("me", forKey: kSecAttrAccount as String)
        #expect(dictionary["acct"] as? String == "me")
        dictionary.setValue(nil, forKey: kSecAttrAccount as String)
        #expect(dictionary.count == 0)
    }

    @Test("a map table finds a value by an equal key, and does not keep it alive")
    func mapTable() {
        let table = NSMapTable<NSString, NSObject>.strongToWeakObjects()
        let kept = NSObject()
        table.setObject(kept, forKey: NSString(string: "kept"))
        for number in 0..<1_000 {
            table.setObject(NSObject(), forKey: NSString(string: "\(number)"))
        }
        #expect(table.object(forKey: "kept") === kept)
        #expect(table.object(forKey: "7") == nil)
        #expect(table.count == 1)
        #expect(table.keyEnumerator().allObjects.count == 1)
        table.removeObject(forKey: "kept")
        #expect(table.object(forKey: "kept") == nil)
    }

    @Test("the authentication methods that Linux declares unavailable can be used, also in a switch")
    func authenticationMethods() {
        let space = URLProtectionSpace(
            host: "example.org",
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust
        )
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust: #expect((space as any ServerTrustHolder).serverTrust == nil)
        case NSURLAuthenticationMethodClientCertificate: Issue.record("the other method")
        default: Issue.record("no method")
        }
        let credential = URLCredential(user: "me", password: "secret", persistence: .none)
        #expect(credential.identity == nil)
        #expect(credential.certificates.isEmpty)
    }

    /// Reads a property that is deprecated for programs.
    fileprivate protocol ServerTrustHolder {
        var serverTrust: SecTrust? { get }
    }

    @Test(
        "declarations for challenges that Linux never issues are marked deprecated",
        arguments: ["var serverTrust", "convenience init(trust:"])
    func deprecated(_ declaration: String) throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Faces/LatchkeySecurity/FoundationCompatibility.swift")
        let text = try String(contentsOf: source, encoding: .utf8)
        let place = try #require(text.range(of: "public \(declaration)"))
        // The attribute is between the end of the previous declaration and this one.
        let attributes = text[..<place.lowerBound].components(separatedBy: "///").last ?? ""
        #expect(attributes.contains("*, deprecated") && attributes.contains("URLSession on Linux raises no challenge"))
    }

    @Test("small names of Apple's platforms are declared")
    func smallNames() {
        let truth: DarwinBoolean = true
        let number: NSInteger = 1
        #expect(truth.boolValue && number == 1)
        #expect(autoreleasepool { 2 } == 2)
        #expect(throws: CancellationError.self) { try autoreleasepool { throw CancellationError() } }
        #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < 60)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
        let encoding = CFStringConvertNSStringEncodingToEncoding(String.Encoding.utf8.rawValue)
        #expect(CFStringConvertEncodingToIANACharSetName(encoding) as String? == "utf-8")
        #expect(CFStringConvertEncodingToIANACharSetName(.max) == nil)
    }
}

// MARK: - Cases

extension CoreFoundationTests {
    enum Kind: CaseIterable {
        case null, boolean, number, string, data, date, url, array, dictionary, set, error, accessControl

        var typeID: CFTypeID {
            switch self {
            case .null: CFNullGetTypeID()
            case .boolean: CFBooleanGetTypeID()
            case .number: CFNumberGetTypeID()
            case .string: CFStringGetTypeID()
            case .data: CFDataGetTypeID()
            case .date: CFDateGetTypeID()
            case .url: CFURLGetTypeID()
            case .array: CFArrayGetTypeID()
            case .dictionary: CFDictionaryGetTypeID()
            case .set: CFSetGetTypeID()
            case .error: CFErrorGetTypeID()
            case .accessControl: SecAccessControlGetTypeID()
            }
        }

        var objects: [Any] {
            switch self {
            case .null: [NSNull(), kCFNull as Any]
            case .boolean: [true, false, kCFBooleanTrue as Any, NSNumber(value: false)]
            case .number: [0, 1, 1.5, UInt8(1), Int8(1), NSNumber(value: 1), Decimal(1)]
            case .string: ["", "text", kSecClass, NSMutableString(string: "text"), "text".dropFirst()]
            case .data: [Data(), NSData(), NSMutableData()]
            case .date: [Date(), NSDate()]
            case .url: [URL(fileURLWithPath: "/"), NSURL(fileURLWithPath: "/")]
            case .array: [[1], [Any](), NSArray(), NSMutableArray()]
            case .dictionary: [["a": 1], [CFString: Any](), NSDictionary(), NSMutableDictionary()]
            case .set: [Set([1]), NSSet(), NSMutableSet()]
            case .error: [NSError(), CocoaError(.fileNoSuchFile), CancellationError()]
            case .accessControl: [SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil) as Any]
            }
        }
    }
}

extension URLProtectionSpace: CoreFoundationTests.ServerTrustHolder {}
