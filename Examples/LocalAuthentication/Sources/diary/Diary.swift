// SPDX-License-Identifier: Apache-2.0

import Foundation
import UnlockScreen

/// The screen on a terminal: the model is that of the app.
@main
struct Diary {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("write", 2): write(arguments[1])
        case ("read", 1): await read()
        default: fail("usage: diary write TEXT | diary read")
        }
    }

    private static func write(_ text: String) {
        do {
            try DiaryStore().write(text)
            print("The diary is written.")
        } catch let failure as DiaryStore.Failure {
            fail("the diary was not written: status \(failure.status)")
        } catch {
            fail("the diary was not written: \(error)")
        }
    }

    @MainActor private static func read() async {
        let model = UnlockModel()
        model.appear()
        print("[ \(model.title) ]")
        await model.unlock()
        guard case .unlocked(let text) = model.state else { fail(model.message ?? "cancelled") }
        print(text)
        model.lock()
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("diary: \(reason)\n".utf8))
        exit(1)
    }
}
