extension QRCode {
  /// The width of the quiet zone in modules, which scanners require.
  private static let border = 4

  /// The number of characters in a row.
  public var columns: Int { modules.count + 2 * Self.border }

  /// The code as terminal rows of two module rows each, to be shown in black on white.
  public var rows: [String] {
    let size = columns
    func isDark(_ row: Int, _ column: Int) -> Bool {
      let (row, column) = (row - Self.border, column - Self.border)
      return modules.indices.contains(row) && modules.indices.contains(column)
        && modules[row][column]
    }
    return stride(from: 0, to: size, by: 2).map { row in
      (0..<size).map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }.joined()
    }
  }
}
