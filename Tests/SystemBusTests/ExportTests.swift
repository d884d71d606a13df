// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainTesting
import SystemBus
import Testing

@Suite("Exported objects", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct ExportTests {
    private static let name: BusName = "org.example.Test"

    /// An object that sums numbers, and has a property that can be set.
    private static func export(on server: BusConnection) throws -> [BusRegistration] {
        let colors = Received<String>()
        colors.append("red")
        let object = try server.export(at: "/org/example") { call in
            switch call.propertyRequest {
            case .get("org.example.Test", "Color"):
                return call.answer([.variant(.string(colors.all.last ?? ""))])
            case .set("org.example.Test", "Color", .string(let color)):
                colors.append(color)
                return call.answer()
            case .getAll: return call.answer([["Color": BusVariant(colors.all.last ?? "")].busValue])
            case .get(_, let name), .set(_, let name, _): return call.fail(.unknownProperty("no property \(name)"))
            case nil: break
            }
            guard call.isCall(of: "org.example.Test", "Sum") else {
                return call.fail(.unknownMethod("there is no method \(call.member)"))
            }
            call.answer {
                var arguments = call.arguments
                let numbers = try arguments.next([UInt32].self)
                guard numbers.count < 4 else { throw BusFailure("org.example.Error.TooMany", "at most three numbers") }
                return [.uint64(numbers.reduce(0) { $0 + UInt64($1) }), .string("\(call.path)")]
            }
        }
        return [object, try server.own(name)]
    }

    @Test(
        "busctl calls a method, and prints the answer and the error names",
        .enabled(if: access("/usr/bin/busctl", X_OK) == 0, "busctl is not installed"))
    func busctl() throws {
        let fixture = try BusFixture()
        let server = try fixture.connect()
        let registrations = try Self.export(on: server)
        func busctl(_ words: String...) throws -> (status: Int32, output: String) {
            try fixture.run(["/usr/bin/busctl", "--system", "--no-pager"] + words)
        }
        let path = "/org/example/a", interface = "org.example.Test"
        let sum = try busctl("call", interface, path, interface, "Sum", "au", "2", "4000000000", "4000000000")
        #expect(sum.output == "ts 8000000000 \"/org/example/a\"\n")
        #expect(try busctl("get-property", interface, path, interface, "Color").output == "s \"red\"\n")
        #expect(try busctl("set-property", interface, path, interface, "Color", "s", "blue").status == 0)
        #expect(try busctl("get-property", interface, path, interface, "Color").output == "s \"blue\"\n")
        let tooMany = try busctl("call", interface, path, interface, "Sum", "au", "4", "1", "1", "1", "1")
        #expect(tooMany.status != 0 && tooMany.output.contains("at most three numbers"))
        #expect(try busctl("call", interface, path, interface, "Sum", "s", "x").output.contains("expected au"))
        #expect(try busctl("call", interface, path, interface, "Product").output.contains("no method Product"))
        #expect(try busctl("call", interface, "/elsewhere", interface, "Sum").output.contains("Unknown object"))
        #expect(try busctl("get-property", interface, path, interface, "Shape").output.contains("no property Shape"))
        withExtendedLifetime((server, registrations)) {}
    }

    @Test(
        "dbus-send calls a method, and prints the answer and the error name",
        .enabled(if: access("/usr/bin/dbus-send", X_OK) == 0, "dbus-send is not installed"))
    func dbusSend() throws {
        let fixture = try BusFixture()
        let server = try fixture.connect()
        let registrations = try Self.export(on: server)
        func send(_ words: String...) throws -> (status: Int32, output: String) {
            try fixture.run(
                ["/usr/bin/dbus-send", "--system", "--print-reply=literal", "--dest=org.example.Test"] + words)
        }
        let sum = try send("/org/example", "org.example.Test.Sum", "array:uint32:1,2,3")
        #expect(sum.status == 0 && sum.output.contains("uint64 6") && sum.output.contains("/org/example"))
        let tooMany = try send("/org/example", "org.example.Test.Sum", "array:uint32:1,2,3,4")
        #expect(tooMany.status != 0 && tooMany.output.contains("org.example.Error.TooMany: at most three numbers"))
        let all = try send(
            "/org/example", "org.freedesktop.DBus.Properties.GetAll", "string:org.example.Test")
        #expect(all.output.contains("Color") && all.output.contains("red"))
        #expect(try send("/org/example", "org.freedesktop.DBus.Peer.Ping").status == 0)
        withExtendedLifetime((server, registrations)) {}
    }

    @Test("The object with the longest path answers, and a released object no longer exists")
    func paths() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let outer = try server.export(at: "/a") { $0.answer([.string("outer")]) }
        var inner: BusRegistration? = try server.export(at: "/a/b") { $0.answer([.string("inner")]) }
        func answer(_ path: ObjectPath) throws -> String {
            var response = try client.call(server.method(path, "Which"), returning: [.string])
            return try response.next()
        }
        #expect(try answer("/a") == "outer" && answer("/a/x/y") == "outer")
        #expect(try answer("/a/b") == "inner" && answer("/a/b/c") == "inner")
        withExtendedLifetime(inner) {}
        inner = nil
        #expect(try eventually { try answer("/a/b") == "outer" })
        #expect(throws: BusError.self) { try answer("/b") }
        withExtendedLifetime(outer) {}
    }

    @Test("A call that is released without an answer fails, and so does one with an unsendable answer")
    func unanswered() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let object = try server.export(at: "/a") { call in
            if call.member == "Invalid" { call.answer([.string("\0")]) }
        }
        for member in ["Nothing", "Invalid"] {
            let problem = error { try client.call(server.method("/a", member), timeout: .seconds(600)) }
            guard case .remote(let failure)? = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
            #expect(failure.name == "org.freedesktop.DBus.Error.Failed")
        }
        withExtendedLifetime(object) {}
    }

    @Test("A call can be answered later, by another thread, once")
    func later() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let held = Received<BusMethodCall>()
        let object = try server.export(at: "/a") { held.append($0) }
        let answers = Received<String>()
        let calls = (0..<2).map { index in
            BackgroundCall { [client, server] in
                var response = try client.call(
                    server.method("/a", "Wait"), returning: [.string], timeout: .seconds(600))
                answers.append("\(index) \(try response.next(String.self))")
            }
        }
        #expect(eventually { held.count == 2 })
        for call in held.all.reversed() {
            call.answer([.string("first")])
            call.answer([.string("second")])
            call.fail(.failed("third"))
        }
        for call in calls { #expect(call.succeeds()) }
        #expect(Set(answers.all) == ["0 first", "1 first"])
        withExtendedLifetime(object) {}
    }

    @Test("The connections of a user share a limited number of unanswered calls")
    func unansweredLimits() throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        (limits.maxUnansweredCalls, limits.maxUnansweredCallsPerUser) = (5, 3)
        let server = try fixture.connect(limits)
        let (one, two) = (try fixture.connect(), try fixture.connect())
        let held = Received<BusMethodCall>()
        let object = try server.export(at: "/a") { call in
            if call.member == "Wait" { held.append(call) } else { call.answer() }
        }
        let method = server.method("/a", "Wait")
        let calls = [one, one, two].map { peer in BackgroundCall { try peer.call(method, timeout: .seconds(600)) } }
        #expect(eventually { held.count == 3 })
        for peer in [one, two, try fixture.connect()] {
            let refused = error { try peer.call(method, timeout: .seconds(600)) }
            guard case .remote(let failure)? = refused else {
                Issue.record("\(String(describing: refused))")
                continue
            }
            #expect(failure.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        }
        for call in held.all { call.answer() }
        for call in calls { #expect(call.succeeds()) }
        for peer in [one, two] { try peer.call(server.method("/a", "Other")) }
        withExtendedLifetime(object) {}
    }

    @Test("Answers have limits of their own, and one that exceeds them is refused by name")
    func sentLimits() throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        (limits.maxValues, limits.maxBytes, limits.maxSentValues, limits.maxSentBytes) = (100, 1000, 2000, 5000)
        let (server, client) = (try fixture.connect(limits), try fixture.connect())
        let object = try server.export(at: "/a") { call in
            let count = call.member == "Few" ? 1000 : 3000
            call.answer([.array(of: .boolean, Array(repeating: .boolean(true), count: count))])
        }
        let few = try client.call(server.method("/a", "Few"), returning: [.array(.boolean)])
        #expect(few.remaining.count == 1)
        let refused = error { try client.call(server.method("/a", "Many"), returning: [.array(.boolean)]) }
        guard case .remote(let failure)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        withExtendedLifetime(object) {}
    }

    @Test("A peer that reads its answers gets any number of them, at any limit of unread ones")
    func readAnswers() throws {
        let fixture = try BusFixture()
        var limits = BusLimits()
        (limits.maxUnreadBytesPerConnection, limits.maxUnreadBytes) = (200_000, 1_000_000)
        let (server, client) = (try fixture.connect(limits), try fixture.connect())
        let bytes = [UInt8](repeating: 1, count: 150_000)
        let object = try server.export(at: "/a") { $0.answer([.bytes(bytes)]) }
        for _ in 0..<50 {
            let answer = try client.call(
                server.method("/a", "Get"), returning: [.array(.byte)], timeout: .seconds(600))
            #expect(answer.remaining == [.bytes(bytes)])
        }
        withExtendedLifetime(object) {}
    }

    @Test("A handler that does not block runs on the thread of the connection, after the events that wait")
    func promptHandlers() throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let threads = Received<UInt>()
        let object = try server.export(at: "/a", blocks: false) { call in
            threads.append(pthread_self())
            call.answer([.boolean(call.isAlone)])
        }
        let method = server.method("/a", "Call")
        #expect(try client.call(method, returning: [.boolean]).remaining == [.boolean(true)])
        let (begun, going) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        server.performInOrder {
            threads.append(pthread_self())
            begun.signal()
            going.awaitSignal()
        }
        begun.awaitSignal()
        #expect(throws: BusError.timeout(method: method.description)) {
            try client.call(method, timeout: .milliseconds(200))
        }
        #expect(threads.count == 2)
        going.signal()
        #expect(eventually { threads.count == 3 })
        // The second call has waited for the event, on its thread.
        let all = threads.all
        #expect(all.count == 3 && all[0] != all[1] && all[1] == all[2])
        withExtendedLifetime(object) {}
    }

    @Test(
        "A call that another one follows is not alone",
        arguments: [false, true])
    func followedCalls(_ isKnown: Bool) throws {
        let fixture = try BusFixture()
        let (server, client) = (try fixture.connect(), try fixture.connect())
        let alone = Received<Bool>()
        let object = try server.export(at: "/a", blocks: false) { call in
            // The first one waits until the second one is there.
            if call.member == "Call" { alone.append(alone.count > 0 ? call.isAlone : eventually { !call.isAlone }) }
            call.answer()
        }
        if isKnown { try client.call(server.method("/a", "Begin")) }
        let method = server.method("/a", "Call")
        let calls = (0..<2).map { _ in BackgroundCall { try client.call(method) } }
        for call in calls { #expect(call.succeeds()) }
        #expect(alone.all == [true, true])
        withExtendedLifetime(object) {}
    }
}
