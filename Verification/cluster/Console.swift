import Foundation
import ProcessCluster

extension Cluster.Up {
  /// Becomes the program with the page. The other commands need no HTTP and link none.
  func runConsole() throws {
    let program = Layout.program("cluster-console")
    guard FileManager.default.isExecutableFile(atPath: program) else {
      throw ClusterError(
        "The page is a program of its own. Build it: swift build --product cluster-console")
    }
    let options = CommandLine.arguments.dropFirst(2).filter { $0 != "--console" }
    var arguments = ([program] + options).map { strdup($0) } + [nil]
    execv(program, &arguments)
    throw ClusterError("\(program) does not start: \(String(cString: strerror(errno))).")
  }
}
