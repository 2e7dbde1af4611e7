/// Text in columns, for people at a terminal.
public enum Table {
  /// The rows, one a line: each column as wide as its widest cell, two spaces between columns.
  ///
  /// - Parameter rows: As many cells in each as in the first.
  public static func render(_ rows: [[String]]) -> String {
    let rows = rows.map { $0.map(\.printable) }
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].columns }.max()! }
    return rows.map { row in
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.columns + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}
