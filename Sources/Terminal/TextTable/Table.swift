/// Plain-text tables for a terminal.
public enum Table {
  /// Renders one line per row. Columns are as wide as their widest cell, two spaces apart.
  ///
  /// - Parameter rows: The cells. Precondition: all rows have the same number of cells.
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
