import CPostgres
import Glibc

/// A connection to a PostgreSQL server. Its methods block; use it from one thread at a time.
final class PostgresConnection {
    private static let library = cpostgres_load()?.pointee
    private let functions: cpostgres
    private let connection: OpaquePointer

    /// Connects.
    ///
    /// - Parameter url: `postgres://[USER[:PASSWORD]@][HOST][:PORT][/DATABASE]`, or anything else that libpq accepts. Without a password,
    ///   libpq looks for one in `PGPASSWORD` and the file of `PGPASSFILE`.
    init(_ url: String) throws(PostgresError) {
        guard let library = Self.library else { throw .noLibrary }
        functions = library
        // Tuned: 10 s for a server that is far away. Without the other limits, a lost connection would hang for hours.
        let parameters = [
            ("dbname", url), ("connect_timeout", "10"), ("tcp_user_timeout", "30000"), ("keepalives_idle", "30"),
            ("application_name", "backgrounder"), ("client_encoding", "UTF8"),
            ("options", "-c client_min_messages=error -c timezone=UTC"),
        ]
        let names = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for case let text? in names + values { free(text) } }
        let connection = functions.connectdbParams(
            names.map { $0.map { UnsafePointer($0) } } + [nil],
            values.map { $0.map { UnsafePointer($0) } } + [nil],
            1
        )
        guard let connection else { throw .connection("out of memory") }
        guard functions.status(connection) == CONNECTION_OK else {
            let reason = Self.line(functions.errorMessage(connection))
            functions.finish(connection)
            throw .connection(reason)
        }
        self.connection = connection
    }

    deinit { functions.finish(connection) }

    /// The rows of a result, as texts.
    typealias Rows = [[String?]]

    /// Runs one command or several, without parameters. Returns the number of changed rows.
    @discardableResult
    func run(_ sql: String) throws(PostgresError) -> Int {
        let result = functions.exec(connection, sql)
        defer { functions.clear(result) }
        try check(result)
        return functions.cmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Runs one query with parameters `$1`, `$2` and so on.
    func rows(_ sql: String, _ parameters: [String?] = []) throws(PostgresError) -> Rows {
        let texts = parameters.map { $0.flatMap { strdup($0) } }
        defer { for case let text? in texts { free(text) } }
        let values = texts.map { $0.map { UnsafePointer($0) } }
        let result = functions.execParams(connection, sql, Int32(values.count), nil, values, nil, nil, 0)
        defer { functions.clear(result) }
        try check(result)
        return (0..<functions.ntuples(result)).map { row in
            (0..<functions.nfields(result)).map { column in
                functions.getisnull(result, row, column) == 1
                    ? nil : functions.getvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    /// Copies lines to the server.
    ///
    /// - Parameter sql: `COPY … FROM STDIN`.
    func copy(_ lines: some Collection<UInt8>, _ sql: String) throws(PostgresError) {
        let begin = functions.exec(connection, sql)
        defer { functions.clear(begin) }
        guard functions.resultStatus(begin) == PGRES_COPY_IN else { throw failure(begin) }
        let sent = Array(lines).withUnsafeBytes { bytes in
            functions.putCopyData(
                connection,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count)
            )
        }
        guard sent == 1, functions.putCopyEnd(connection, nil) == 1 else {
            throw .connection(Self.line(functions.errorMessage(connection)))
        }
        var problem: PostgresError?
        while let result = functions.getResult(connection) {
            if functions.resultStatus(result) != PGRES_COMMAND_OK { problem = failure(result) }
            functions.clear(result)
        }
        if let problem { throw problem }
    }

    /// Runs `body` in a transaction, which an error rolls back.
    func transaction<Result>(_ body: () throws(PostgresError) -> Result) throws(PostgresError) -> Result {
        try run("BEGIN")
        do throws(PostgresError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    private func check(_ result: OpaquePointer?) throws(PostgresError) {
        let status = functions.resultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else { throw failure(result) }
    }

    private func failure(_ result: OpaquePointer?) -> PostgresError {
        let reason = Self.line(functions.resultErrorMessage(result))
        return functions.status(connection) == CONNECTION_OK && result != nil
            ? .statement(reason) : .connection(reason.isEmpty ? Self.line(functions.errorMessage(connection)) : reason)
    }

    /// The first line of a message, without its severity.
    private static func line(_ message: UnsafePointer<CChar>?) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        for severity in ["ERROR:  ", "FATAL:  "] where line.hasPrefix(severity) {
            return String(line.dropFirst(severity.count))
        }
        return line
    }
}

/// Why PostgreSQL did not do what was asked.
package enum PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    case noLibrary
    /// The server cannot be reached, or the connection was lost.
    case connection(String)
    case statement(String)
    /// The tables are not those of this version.
    case schema(String)

    package var description: String {
        switch self {
        case .noLibrary: "cannot load libpq.so.5; install libpq5"
        case .connection(let reason): "cannot reach PostgreSQL: \(reason)"
        case .statement(let reason): "PostgreSQL refused: \(reason)"
        case .schema(let problem): problem
        }
    }
}
