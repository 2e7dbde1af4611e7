// libFuzzer provides `main`. `tools/fuzz` builds and runs this program.
import FuzzTargets
import Glibc

private let target: FuzzTarget = {
  guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name))
  else { fatalError("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))") }
  return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.run(UnsafeRawBufferPointer(start: start, count: count))
  return 0
}

/// Writes the target's seeds into the folder that `FUZZ_SEEDS` names, if it is set.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
) -> CInt {
  guard let folder = getenv("FUZZ_SEEDS") else { return 0 }
  for (number, seed) in target.seeds.enumerated() {
    guard let file = fopen("\(String(cString: folder))/seed-\(number)", "w") else { return 1 }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }
  return 0
}
