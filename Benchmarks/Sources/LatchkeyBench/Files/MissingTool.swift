// SPDX-License-Identifier: Apache-2.0

/// A tool that this machine does not have, or that cannot be used here. Its rows say so.
struct MissingTool: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// A measured value, or why there is none.
typealias FileFigure = Result<Double, MissingTool>

extension Result where Failure == MissingTool {
    /// Makes something with the tool, if it is there.
    func using<Value>(_ body: (Success) throws -> Value) throws -> Result<Value, MissingTool> {
        switch self {
        case .failure(let missing): return .failure(missing)
        case .success(let tool):
            do {
                return .success(try body(tool))
            } catch let missing as MissingTool {
                return .failure(missing)
            }
        }
    }
}

extension Result where Success == Double, Failure == MissingTool {
    /// Measures again, if the tool is there, and keeps the larger value.
    mutating func improve<Tool>(
        with tool: Result<Tool, MissingTool>, _ measure: (Tool) throws -> Double
    ) throws {
        let best = (try? get()) ?? 0
        self = try tool.using(measure).map { Swift.max(best, $0) }
    }
}
